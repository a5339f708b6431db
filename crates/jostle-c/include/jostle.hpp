// Jostle in C++17: the handles of jostle.h as classes that free themselves, and codes as exceptions. jostle.h says what
// each function does, and how long what it lends lives.
//
//   jostle::finder finder(2);                                    // make it once, keep it
//   auto set = jostle::set<float>(agents.size(), {{&agents[0].x, sizeof(agent)}, {&agents[0].y, sizeof(agent)}});
//   set.radius = {&agents[0].radius, sizeof(agent)};
//   for (const auto &pair : finder.find(jostle::within(set))) meet(pair[0], pair[1]);
//
// Functions that have no method here are called as in C, with the handle that get() lends.
#ifndef JOSTLE_HPP
#define JOSTLE_HPP

#include <jostle.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace jostle {

// A call that has failed.
class error : public std::runtime_error {
 public:
  error(jostle_status status, const std::string &what, std::vector<jostle_offender> first, std::size_t offenders,
        int set = -1)
      : std::runtime_error(what), status_(status), first_(std::move(first)), offenders_(offenders), set_(set) {}

  jostle_status status() const noexcept { return status_; }
  // The first of the bodies, queries, keys or pairs at fault, and how many there are.
  const std::vector<jostle_offender> &first() const noexcept { return first_; }
  std::size_t offenders() const noexcept { return offenders_; }
  // The number of the set at fault; -1 where none in particular is.
  int set() const noexcept { return set_; }

 private:
  jostle_status status_;
  std::vector<jostle_offender> first_;
  std::size_t offenders_;
  int set_;
};

// Returns a struct of jostle.h, cleared, with its size filled in.
template <class T>
T sized() noexcept {
  T made{};
  made.size = sizeof(T);
  return made;
}

// Throws an error if a call has failed, with what the handle of the call, if there is one, tells of it.
inline void check(jostle_status status, const void *handle = nullptr) {
  if (status == JOSTLE_STATUS_OK) return;
  auto told = sized<jostle_error>();
  if (handle != nullptr && jostle_last_error(handle, &told) == JOSTLE_STATUS_OK && told.status == status) {
    throw error(status, told.message, {told.first, told.first + told.first_count}, told.offenders, told.set);
  }
  throw error(status, jostle_status_text(status), {}, 0);
}

// A list that a handle lends.
template <class T>
class view {
 public:
  view(const T *first, std::size_t count) noexcept : first_(first), count_(count) {}

  const T *begin() const noexcept { return first_; }
  const T *end() const noexcept { return first_ + count_; }
  const T *data() const noexcept { return first_; }
  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  const T &operator[](std::size_t at) const noexcept { return first_[at]; }

 private:
  const T *first_;
  std::size_t count_;
};

using pair = std::uint32_t[2];

// The pairs of a finder.
class pairs : public view<pair> {
 public:
  explicit pairs(const jostle_pairs &found) noexcept : view(found.pairs, found.count), times_(found.times_of_impact) {}

  // When the bodies of each pair first touch; none unless bodies move.
  view<double> times_of_impact() const noexcept { return {times_, times_ == nullptr ? 0 : size()}; }

 private:
  const double *times_;
};

// The two ids of the first of some pairs, as functions of C take them.
inline const std::uint32_t *ids(view<pair> pairs) noexcept { return pairs.empty() ? nullptr : *pairs.data(); }

// The neighbours of one body, by the row of its id.
inline view<std::uint32_t> row(const jostle_neighbors &of, std::size_t id) noexcept {
  return {of.ids + of.offsets[id], of.offsets[id + 1] - of.offsets[id]};
}

// The ids of the bodies that answer one question, by its number.
inline view<std::uint32_t> row(const jostle_answers &of, std::size_t question) noexcept {
  return {of.ids + of.offsets[question], of.offsets[question + 1] - of.offsets[question]};
}

namespace detail {

// A handle that frees itself.
template <class T, void (*Free)(T *)>
class handle {
 public:
  T *get() const noexcept { return held_.get(); }

 protected:
  explicit handle(T *made) noexcept : held_(made) {}

  void checked(jostle_status status) const { check(status, get()); }

 private:
  struct freeing {
    void operator()(T *held) const noexcept { Free(held); }
  };
  std::unique_ptr<T, freeing> held_;
};

// Returns the handle that make(&handle) makes.
template <class T, class Make>
T *made(Make make) {
  T *held = nullptr;
  check(make(&held));
  return held;
}

}  // namespace detail

namespace detail {

inline void fill(jostle_column (&columns)[3], std::initializer_list<jostle_column> axes) {
  if (axes.size() > 3) throw error(JOSTLE_STATUS_DIMENSIONS, "a set of more than 3 axes", {}, 0);
  std::size_t axis = 0;
  for (const auto &column : axes) columns[axis++] = column;
}

}  // namespace detail

// Makes a set of circles or spheres in float or double. center has a column for each axis: its first value, and the
// bytes from one value to the next.
template <class T>
jostle_set set(std::size_t count, std::initializer_list<jostle_column> center) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "float or double");
  auto made = sized<jostle_set>();
  made.count = count;
  made.number = std::is_same_v<T, float> ? JOSTLE_NUMBER_FLOAT : JOSTLE_NUMBER_DOUBLE;
  detail::fill(made.center, center);
  return made;
}

// Makes a set of axis-aligned boxes.
template <class T>
jostle_set boxes(std::size_t count, std::initializer_list<jostle_column> lower,
                 std::initializer_list<jostle_column> upper) {
  auto made = set<T>(count, lower);
  made.shape = JOSTLE_SHAPE_BOX;
  detail::fill(made.end, upper);
  return made;
}

// Makes a set of capsules between two ends; set its radius.
template <class T>
jostle_set capsules(std::size_t count, std::initializer_list<jostle_column> from,
                    std::initializer_list<jostle_column> to) {
  auto made = boxes<T>(count, from, to);
  made.shape = JOSTLE_SHAPE_CAPSULE;
  return made;
}

// Make the input of a search. The sets, the table and the space have to live until the search is over.
inline jostle_input within(const jostle_set &set, const jostle_space *space = nullptr) {
  auto made = sized<jostle_input>();
  made.sets = &set;
  made.set_count = 1;
  made.space = space;
  return made;
}

inline jostle_input between(const jostle_set (&sets)[2], const jostle_space *space = nullptr) {
  auto made = within(sets[0], space);
  made.set_count = 2;
  made.relation = JOSTLE_RELATION_BETWEEN;
  return made;
}

inline jostle_input among(const std::vector<jostle_set> &sets, const std::uint8_t *table,
                          const jostle_space *space = nullptr) {
  auto made = sized<jostle_input>();
  made.sets = sets.data();
  made.set_count = sets.size();
  made.relation = JOSTLE_RELATION_AMONG;
  made.table = table;
  made.space = space;
  return made;
}

// Adds a test to an input: a search keeps only pairs for which test(a, b) is true. The test has to live until the search
// is over. Several threads call it at once.
template <class Test>
jostle_input only(jostle_input input, const Test &test) {
  static_assert(std::is_nothrow_invocable_r_v<bool, const Test &, std::uint32_t, std::uint32_t>,
                "a test takes two ids, returns a bool and is noexcept");
  input.only = [](void *user, std::uint32_t a, std::uint32_t b) -> std::int32_t {
    return (*static_cast<const Test *>(user))(a, b);
  };
  input.only_user = const_cast<Test *>(&test);
  return input;
}

// As only, with a test(i, j, a, b) that knows the sets i and j of bodies a and b.
template <class Test>
jostle_input only_of_sets(jostle_input input, const Test &test) {
  using id = std::uint32_t;
  static_assert(std::is_nothrow_invocable_r_v<bool, const Test &, id, id, id, id>,
                "a test takes two sets and two ids, returns a bool and is noexcept");
  input.only_of_sets = [](void *user, id i, id j, id a, id b) -> std::int32_t {
    return (*static_cast<const Test *>(user))(i, j, a, b);
  };
  input.only_user = const_cast<Test *>(&test);
  return input;
}

class threads : public detail::handle<jostle_threads, jostle_threads_free> {
 public:
  static threads serial() { return threads(detail::made<jostle_threads>(jostle_threads_serial)); }
  static threads pool(std::size_t count) {
    return threads(detail::made<jostle_threads>([=](auto out) { return jostle_threads_pool(count, out); }));
  }
  // The host's own threads: see jostle_threads_host.
  static threads host(const jostle_host &host) {
    return threads(detail::made<jostle_threads>([&](auto out) { return jostle_threads_host(&host, out); }));
  }

 private:
  using handle::handle;
};

class lists : public detail::handle<jostle_lists, jostle_lists_free> {
 public:
  // Makes lists. columns is the sum of the columns beside the ids: JOSTLE_LISTS_...
  explicit lists(std::uint32_t columns = 0)
      : handle(detail::made<jostle_lists>([=](auto out) { return jostle_lists_new(columns, out); })) {}
};

class finder : public detail::handle<jostle_finder, jostle_finder_free> {
 public:
  // Makes a finder in 2 or 3 dimensions.
  explicit finder(std::uint32_t dimensions)
      : handle(detail::made<jostle_finder>([=](auto out) { return jostle_finder_new(dimensions, out); })) {}

  // Makes a finder of bodies that move little from frame to frame: see jostle_finder_new_coherent.
  static finder coherent(std::uint32_t dimensions) {
    return finder(detail::made<jostle_finder>([=](auto out) { return jostle_finder_new_coherent(dimensions, out); }));
  }

  void set_threads(const threads &threads) { checked(jostle_finder_set_threads(get(), threads.get())); }
  // Goes back to the global pool.
  void set_threads(std::nullptr_t) { checked(jostle_finder_set_threads(get(), nullptr)); }

  // Lets a search list so many pairs at most, or neighbours in all rows together.
  void set_max_pairs(std::size_t pairs) { checked(jostle_finder_set_max_pairs(get(), pairs)); }

  pairs find(const jostle_input &input) {
    auto found = sized<jostle_pairs>();
    checked(jostle_find(get(), &input, &found));
    return pairs(found);
  }

  // Returns the pairs of two sets in the last list, the lesser number first.
  pairs pairs_between(std::size_t i, std::size_t j) {
    auto found = sized<jostle_pairs>();
    checked(jostle_pairs_between(get(), i, j, &found));
    return pairs(found);
  }

  // Returns the image shifts of the last list: one number for each dimension of each pair.
  jostle_image_shifts image_shifts() {
    auto found = sized<jostle_image_shifts>();
    checked(jostle_find_image_shifts(get(), &found));
    return found;
  }

  std::uint64_t count(const jostle_input &input) {
    std::uint64_t counted = 0;
    checked(jostle_count(get(), &input, &counted));
    return counted;
  }

  // Calls visit(a, b) for each pair, from several threads at once. The first exception of visit is thrown here.
  template <class Visit>
  void for_each_pair(const jostle_input &input, Visit &&visit) {
    visitor<std::remove_reference_t<Visit>> visiting{visit, {}, {}};
    checked(jostle_for_each_pair(get(), &input, visitor<std::remove_reference_t<Visit>>::call, &visiting));
    if (visiting.thrown) std::rethrow_exception(visiting.thrown);
  }

  // Calls visit(hit) for each pair, with a jostle_hit, from several threads at once. The first exception of visit is
  // thrown here.
  template <class Visit>
  void for_each_hit(const jostle_input &input, Visit &&visit) {
    visitor<std::remove_reference_t<Visit>> visiting{visit, {}, {}};
    checked(jostle_for_each_hit(get(), &input, visitor<std::remove_reference_t<Visit>>::call_hit, &visiting));
    if (visiting.thrown) std::rethrow_exception(visiting.thrown);
  }

  // Returns where and how deep the bodies of each pair of the last list overlap. input is the input that was searched.
  jostle_contact_geometry contact_geometry(const jostle_input &input, jostle_number number = JOSTLE_NUMBER_FLOAT) {
    auto found = sized<jostle_contact_geometry>();
    checked(jostle_find_contact_geometry(get(), &input, number, &found));
    return found;
  }

  // Returns the same of pairs of the caller's own, in open space.
  jostle_contact_geometry contact_geometry_of(view<pair> pairs, const jostle_input &input,
                                              jostle_number number = JOSTLE_NUMBER_FLOAT) {
    auto found = sized<jostle_contact_geometry>();
    checked(jostle_contact_geometry_of(get(), ids(pairs), pairs.size(), &input, number, &found));
    return found;
  }

  // Makes a finder of coherent frames search the next frame from scratch.
  void forget() { checked(jostle_finder_forget(get())); }

  // Returns how many bytes the finder holds.
  std::size_t bytes() {
    std::size_t held = 0;
    checked(jostle_finder_bytes(get(), &held));
    return held;
  }

  // Returns how many coherent frames were searched from scratch, and the margin.
  jostle_frames frames() {
    auto told = sized<jostle_frames>();
    checked(jostle_finder_frames(get(), &told));
    return told;
  }

  // Fills lists with the neighbours of each body.
  jostle_neighbors neighbors(const jostle_input &input, jostle_rows rows, lists &lists) {
    auto found = sized<jostle_neighbors>();
    checked(jostle_neighbors_find(get(), &input, rows, lists.get(), &found));
    return found;
  }

  // Returns whether lists of bodies with a margin still hold all pairs.
  bool still_valid(const jostle_input &input) {
    std::int32_t valid = 0;
    checked(jostle_still_valid(get(), &input, &valid));
    return valid != 0;
  }

 private:
  using handle::handle;

  template <class Visit>
  struct visitor {
    Visit &visit;
    std::mutex lock;
    std::exception_ptr thrown;

    static void call(void *user, std::uint32_t a, std::uint32_t b) noexcept {
      static_cast<visitor *>(user)->caught([=](Visit &visit) { visit(a, b); });
    }

    static void call_hit(void *user, const jostle_hit *hit) noexcept {
      static_cast<visitor *>(user)->caught([=](Visit &visit) { visit(*hit); });
    }

    template <class Call>
    void caught(Call call) noexcept {
      try {
        call(visit);
      } catch (...) {
        const std::lock_guard<std::mutex> held(lock);
        if (!thrown) thrown = std::current_exception();
      }
    }
  };
};

class prepared : public detail::handle<jostle_prepared, jostle_prepared_free> {
 public:
  explicit prepared(std::uint32_t dimensions)
      : handle(detail::made<jostle_prepared>([=](auto out) { return jostle_prepared_new(dimensions, out); })) {}

  void set_threads(const threads &threads) { checked(jostle_prepared_set_threads(get(), threads.get())); }
  void set_threads(std::nullptr_t) { checked(jostle_prepared_set_threads(get(), nullptr)); }

  // Copies and sorts bodies for searches in a space.
  void build(const jostle_set &set, const jostle_space *space = nullptr) {
    checked(jostle_prepared_build(get(), &set, space));
  }

  // Returns this prepared set as a set of a search.
  jostle_set set() const {
    auto made = sized<jostle_set>();
    made.prepared = get();
    return made;
  }
};

// Asks prepared sets. Make one for each thread that asks.
class queries : public detail::handle<jostle_queries, jostle_queries_free> {
 public:
  explicit queries(std::uint32_t dimensions)
      : handle(detail::made<jostle_queries>([=](auto out) { return jostle_queries_new(dimensions, out); })) {}

  void set_threads(const threads &threads) { checked(jostle_queries_set_threads(get(), threads.get())); }
  void set_threads(std::nullptr_t) { checked(jostle_queries_set_threads(get(), nullptr)); }

  // Answers count questions of one kind; jostle_question says what numbers each takes.
  jostle_answers ask(const prepared &prepared, jostle_question question, std::size_t count, const double *numbers,
                     std::size_t nearest = 1, double reach = std::numeric_limits<double>::infinity()) {
    return answered(prepared, asked(question, count, numbers, nearest, reach));
  }

  // The same, about the bodies for which test(question, id) is true. Several threads call it at once.
  template <class Test>
  jostle_answers ask_only(const prepared &prepared, jostle_question question, std::size_t count, const double *numbers,
                          const Test &test, std::size_t nearest = 1,
                          double reach = std::numeric_limits<double>::infinity()) {
    static_assert(std::is_nothrow_invocable_r_v<bool, const Test &, std::size_t, std::uint32_t>,
                  "a test takes the number of a question and an id, returns a bool and is noexcept");
    auto query = asked(question, count, numbers, nearest, reach);
    query.only = [](void *user, std::size_t number, std::uint32_t id) -> std::int32_t {
      return (*static_cast<const Test *>(user))(number, id);
    };
    query.only_user = const_cast<Test *>(&test);
    return answered(prepared, query);
  }

 private:
  static jostle_query asked(jostle_question question, std::size_t count, const double *numbers, std::size_t nearest,
                            double reach) {
    auto query = sized<jostle_query>();
    query.question = question;
    query.count = count;
    query.numbers = numbers;
    query.nearest = nearest;
    query.reach = reach;
    return query;
  }

  jostle_answers answered(const prepared &prepared, const jostle_query &query) {
    auto answers = sized<jostle_answers>();
    checked(jostle_query_ask(get(), prepared.get(), &query, &answers));
    return answers;
  }
};

class contacts : public detail::handle<jostle_contacts, jostle_contacts_free> {
 public:
  contacts() : handle(detail::made<jostle_contacts>(jostle_contacts_new)) {}

  void set_threads(const threads &threads) { checked(jostle_contacts_set_threads(get(), threads.get())); }
  void set_threads(std::nullptr_t) { checked(jostle_contacts_set_threads(get(), nullptr)); }

  // Compares the last list of pairs, within one set, with the list of the last update. keys has a key for each body.
  jostle_changes update(const finder &finder, const std::vector<std::uint64_t> &keys) {
    return update(finder, JOSTLE_RELATION_WITHIN, {view<std::uint64_t>(keys.data(), keys.size())});
  }

  // The same for any relation, with the keys of each set.
  jostle_changes update(const finder &finder, jostle_relation relation,
                        const std::vector<view<std::uint64_t>> &keys) {
    const auto of = all(keys);
    auto changes = sized<jostle_changes>();
    checked(jostle_contacts_update(get(), finder.get(), relation, of.data(), of.size(), &changes));
    return changes;
  }

  // The same for pairs of the caller's own, within one set or between two.
  jostle_changes update(view<pair> pairs, jostle_relation relation, const std::vector<view<std::uint64_t>> &keys) {
    const auto of = all(keys);
    auto changes = sized<jostle_changes>();
    checked(jostle_contacts_update_pairs(get(), ids(pairs), pairs.size(), relation, of.data(), of.size(), &changes));
    return changes;
  }

 private:
  static std::vector<jostle_keys> all(const std::vector<view<std::uint64_t>> &keys) {
    std::vector<jostle_keys> made;
    for (const auto &of_set : keys) {
      made.push_back(sized<jostle_keys>());
      made.back().count = of_set.size();
      made.back().keys = of_set.data();
    }
    return made;
  }
};

}  // namespace jostle

#endif  // JOSTLE_HPP
