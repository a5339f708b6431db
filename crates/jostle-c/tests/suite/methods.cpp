// Methods of jostle.hpp that the example has no use for.
#include <jostle.hpp>

#include <cstdio>

#define HOLDS(what) \
  if (!(what)) return std::printf("line %d: %s\n", __LINE__, #what), 1

int main() {
  const float x[] = {0, 3, 9.5f}, y[] = {0, 0, 0}, to[] = {2, 0, 0}, radius = 1;
  auto set = jostle::set<float>(3, {{x, 4}, {y, 4}});
  set.radius = {&radius, 0};
  jostle::finder finder(2);
  finder.set_threads(jostle::threads::serial());
  finder.set_threads(nullptr);
  HOLDS(finder.find(jostle::within(set)).times_of_impact().empty());
  auto moving = set;
  moving.displacement[0] = {to, 4};
  moving.displacement[1] = {y, 4};
  const auto found = finder.find(jostle::within(moving));
  HOLDS(found.size() == 1 && found.times_of_impact().size() == 1 && found.times_of_impact()[0] == 0.5);

  auto space = jostle::sized<jostle_space>();
  space.kind = JOSTLE_SPACE_KIND_PERIODIC;
  space.repeats[0] = 1;
  space.hi[0] = 10;
  const auto across = finder.find(jostle::within(set, &space));
  const auto shifts = finder.image_shifts();
  HOLDS(across.size() == 1 && across[0][1] == 2 && shifts.count == 1 && shifts.shifts[0] == -1);
  HOLDS(finder.bytes() > 0);
  const jostle::pair own[] = {{0, 1}};
  const auto geometry = finder.contact_geometry_of({own, 1}, jostle::within(set), JOSTLE_NUMBER_DOUBLE);
  HOLDS(geometry.count == 1 && geometry.points_double[0] == 1.5);

  const std::vector<std::uint64_t> keys{5, 6, 7};
  const jostle::view<std::uint64_t> names(keys.data(), keys.size());
  jostle::contacts contacts;
  HOLDS(contacts.update(jostle::view<jostle::pair>(own, 1), JOSTLE_RELATION_WITHIN, {names}).begin.count == 1);
  const jostle_set both[2] = {set, set};
  HOLDS(finder.find(jostle::between(both)).size() == 3);
  HOLDS(contacts.update(finder, JOSTLE_RELATION_BETWEEN, {names, names}).begin.count == 3);
  contacts.set_threads(nullptr);
  const auto not_itself = [](std::uint32_t i, std::uint32_t j, std::uint32_t a, std::uint32_t b) noexcept {
    return i == j || a != b;
  };
  HOLDS(finder.find(jostle::only_of_sets(jostle::between(both), not_itself)).size() == 0);
  finder.set_max_pairs(2);
  try {
    finder.find(jostle::between(both));
    return 2;
  } catch (const jostle::error &refused) {
    HOLDS(refused.status() == JOSTLE_STATUS_TOO_MANY_PAIRS);
  }
  finder.set_max_pairs(3);
  HOLDS(finder.find(jostle::between(both)).size() == 3);

  jostle::prepared standing(2);
  jostle::queries queries(2);
  standing.set_threads(nullptr);
  queries.set_threads(nullptr);
  standing.build(set);
  const double points[] = {9, 0, 0.5, 0};
  const auto answers = queries.ask(standing, JOSTLE_QUESTION_POINT, 2, points);
  HOLDS(jostle::row(answers, 0).size() == 1 && jostle::row(answers, 0)[0] == 2 && jostle::row(answers, 1)[0] == 0);

  const auto another = [](std::size_t question, std::uint32_t id) noexcept { return question == 1 || id != 2; };
  const auto others = queries.ask_only(standing, JOSTLE_QUESTION_POINT, 2, points, another);
  HOLDS(jostle::row(others, 0).size() == 0 && jostle::row(others, 1)[0] == 0);

  auto coherent = jostle::finder::coherent(2);
  for (int frame = 0; frame < 2; frame++) coherent.find(jostle::within(set)), coherent.forget();
  HOLDS(coherent.frames().rebuilds == 2);
  try {
    jostle::set<float>(3, {{x, 4}, {y, 4}, {y, 4}, {y, 4}});
    return 2;
  } catch (const jostle::error &refused) {
    HOLDS(refused.status() == JOSTLE_STATUS_DIMENSIONS);
  }
  try {
    finder.find(jostle::within(jostle::set<float>(3, {{x, 4}, {y, 4}, {y, 4}})));
    return 3;
  } catch (const jostle::error &refused) {
    HOLDS(refused.status() == JOSTLE_STATUS_DIMENSIONS);
  }
  return 0;
}
