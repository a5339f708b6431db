// Jostle in C++17: circles in structs, walls that are sorted once, boxes and capsules, and errors as exceptions.
// README.md has the line that compiles this example. The tests compare what it prints with what Rust finds.
#include <jostle.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <vector>

namespace {

// Random numbers from 0 to 1.
class numbers {
 public:
  explicit numbers(std::uint32_t seed) : at_(seed) {}

  double next() {
    at_ = at_ * 1664525u + 1013904223u;
    return static_cast<double>(at_ >> 8) / 16777216.0;
  }

 private:
  std::uint32_t at_;
};

struct agent {
  double x, y;
  float speed;
  double radius;
};

std::vector<agent> make(std::size_t count, std::uint32_t seed) {
  numbers numbers(seed);
  std::vector<agent> agents(count);
  for (auto &agent : agents) {
    agent.x = numbers.next() * 100.0;
    agent.y = numbers.next() * 100.0;
    agent.radius = 0.25 + numbers.next() * 0.5;
  }
  return agents;
}

jostle_set set_of(const std::vector<agent> &agents) {
  auto set = jostle::set<double>(agents.size(), {{&agents[0].x, sizeof(agent)}, {&agents[0].y, sizeof(agent)}});
  set.radius = {&agents[0].radius, sizeof(agent)};
  return set;
}

}  // namespace

int main() {
  auto agents = make(10000, 3);
  const auto walls = make(1000, 4);
  const auto crowd = set_of(agents);

  jostle::finder finder(2);
  finder.set_threads(jostle::threads::pool(2));
  const auto found = finder.find(jostle::within(crowd));
  std::uint64_t sum = 0;
  for (const auto &pair : found) sum = sum * 31 + pair[0] + pair[1];
  std::printf("pairs %zu, checksum %llu\n", found.size(), static_cast<unsigned long long>(sum));

  jostle::prepared standing(2);
  standing.build(set_of(walls));
  const jostle_set sets[2] = {crowd, standing.set()};
  std::printf("at the walls %zu\n", finder.find(jostle::between(sets)).size());

  // Boxes stand about a tenth of the crowd; a shot is as thick as it likes on its way from corner to corner.
  struct box {
    double lower[2], upper[2];
  };
  std::vector<box> houses;
  for (std::size_t i = 0; i < agents.size(); i += 10) {
    const auto &[x, y, speed, radius] = agents[i];
    houses.push_back({{x - 1.0, y - 0.5}, {x + 1.0, y + 0.5}});
  }
  const double from = 0.0, to = 100.0, thick = 0.25;
  const auto lower = &houses[0].lower, upper = &houses[0].upper;
  const auto boxes = jostle::boxes<double>(houses.size(), {{*lower, sizeof(box)}, {*lower + 1, sizeof(box)}},
                                           {{*upper, sizeof(box)}, {*upper + 1, sizeof(box)}});
  auto shot = jostle::capsules<double>(1, {{&from, 0}, {&from, 0}}, {{&to, 0}, {&to, 0}});
  shot.radius = {&thick, 0};
  const jostle_set shots[2] = {shot, boxes}, among_houses[2] = {crowd, boxes};
  std::printf("boxes %zu, in the way of a shot %zu, of the crowd %zu\n", finder.find(jostle::within(boxes)).size(),
              finder.find(jostle::between(shots)).size(), finder.find(jostle::between(among_houses)).size());

  jostle::queries queries(2);
  const double places[] = {50.0, 50.0, 10.0, 90.0};
  const auto nearest = queries.ask(standing, JOSTLE_QUESTION_NEAREST, 2, places);
  std::printf("nearest walls %u at %.6f, %u at %.6f\n", nearest.ids[0], nearest.distances[0], nearest.ids[1],
              nearest.distances[1]);

  std::atomic<std::size_t> visited{0};
  finder.for_each_pair(jostle::within(crowd), [&](std::uint32_t, std::uint32_t) { visited++; });
  std::printf("visited %zu\n", visited.load());
  try {
    finder.for_each_pair(jostle::within(crowd), [](std::uint32_t, std::uint32_t) { throw std::runtime_error("enough"); });
  } catch (const std::runtime_error &thrown) {
    std::printf("thrown: %s\n", thrown.what());
  }

  const auto other_group = [](std::uint32_t a, std::uint32_t b) noexcept { return a / 10 != b / 10; };
  auto periodic = jostle::sized<jostle_space>();
  periodic.kind = JOSTLE_SPACE_KIND_PERIODIC;
  periodic.repeats[0] = 1;
  periodic.hi[0] = 100.0;
  const auto of_other_groups = jostle::only(jostle::within(crowd, &periodic), other_group);
  std::atomic<std::size_t> groups{0}, across{0};
  finder.for_each_hit(of_other_groups, [&](const jostle_hit &hit) {
    groups++;
    if (hit.image_shift[0] != 0) across++;
  });
  std::printf("of other groups %zu, %zu across the border\n", groups.load(), across.load());

  jostle::lists lists;
  const auto neighbors = finder.neighbors(jostle::within(crowd), JOSTLE_ROWS_FULL, lists);
  std::size_t others = 0;
  for (std::size_t id = 0; id < neighbors.rows; id++)
    for (const auto other : jostle::row(neighbors, id)) others += other != id;
  std::printf("neighbours %zu\n", others);

  jostle::contacts contacts;
  const std::vector<std::uint64_t> keys = [&] {
    std::vector<std::uint64_t> made(agents.size());
    for (std::size_t i = 0; i < made.size(); i++) made[i] = made.size() - i;
    return made;
  }();
  finder.find(jostle::within(crowd));
  std::printf("contacts begin %zu\n", contacts.update(finder, keys).begin.count);

  agents[5].radius = -1.0;
  agents[9].y = std::numeric_limits<double>::quiet_NaN();
  try {
    finder.find(jostle::within(crowd));
  } catch (const jostle::error &refused) {
    std::printf("refused %zu, the first is %llu\n", refused.offenders(),
                static_cast<unsigned long long>(refused.first()[0].id));
  }
  return 0;
}
