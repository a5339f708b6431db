/*
 * Jostle in C11: circles in structs, bad bodies, contacts, coherent frames, atoms with ghosts, and the program's own
 * threads. README.md has the line that compiles this example. The tests compare what it prints with what Rust finds.
 */
#include <jostle.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Stops the program if a call has failed, and says why. */
static void check(jostle_status status, const void *handle) {
  if (status == JOSTLE_STATUS_OK) return;
  jostle_error error = {.size = sizeof error};
  if (handle != NULL) jostle_last_error(handle, &error);
  fprintf(stderr, "%s: %s\n", jostle_status_text(status), error.message != NULL ? error.message : "");
  exit(1);
}

/* Returns the next random number from 0 to 1. */
static double next(uint32_t *at) {
  *at = *at * 1664525u + 1013904223u;
  return (double)(*at >> 8) / 16777216.0;
}

struct agent {
  int id;
  float x, y;
  double speed;
  float radius;
};

enum { AGENTS = 40000, OWNED = 3000, GHOSTS = 1500, CREW = 3 };

static jostle_column field(const void *first, ptrdiff_t stride) {
  return (jostle_column){.data = first, .stride = stride};
}

static jostle_set set_of_agents(const struct agent *agents, size_t count) {
  jostle_set set = {.size = sizeof set, .count = count, .number = JOSTLE_NUMBER_FLOAT};
  set.center[0] = field(&agents[0].x, sizeof agents[0]);
  set.center[1] = field(&agents[0].y, sizeof agents[0]);
  set.radius = field(&agents[0].radius, sizeof agents[0]);
  return set;
}

static void visit(void *user, uint32_t a, uint32_t b) {
  (void)a, (void)b;
  atomic_fetch_add_explicit((atomic_size_t *)user, 1, memory_order_relaxed);
}

/* A task of a region, and the thread that does it. */
struct work {
  pthread_t thread;
  jostle_task task;
  void *data;
  size_t number;
};

static void *work(void *of) {
  const struct work *work = of;
  work->task(work->data, work->number);
  return NULL;
}

/* Runs tasks on threads of the host's: here a thread for each task. An engine would give the tasks to its own pool. */
static void run(void *host, size_t tasks, jostle_task task, void *data) {
  struct work works[CREW];
  (void)host;
  if (tasks > CREW) tasks = CREW; /* the tasks that run do the work of those left out */
  for (size_t i = 0; i < tasks; i++) {
    works[i] = (struct work){.task = task, .data = data, .number = i};
    if (pthread_create(&works[i].thread, NULL, work, &works[i]) != 0) exit(1);
  }
  for (size_t i = 0; i < tasks; i++) pthread_join(works[i].thread, NULL);
}

static void agents_in_structs(void) {
  struct agent *agents = calloc(AGENTS, sizeof *agents);
  if (agents == NULL) exit(1);
  uint32_t seed = 1;
  for (int i = 0; i < AGENTS; i++) {
    agents[i] = (struct agent){.id = i, .speed = 1.0};
    agents[i].x = (float)(next(&seed) * 200.0);
    agents[i].y = (float)(next(&seed) * 200.0);
    agents[i].radius = (float)(0.25 + next(&seed) * 0.5);
  }
  jostle_finder *finder = NULL;
  check(jostle_finder_new(2, &finder), NULL);
  jostle_set set = set_of_agents(agents, AGENTS);
  jostle_input input = {.size = sizeof input, .sets = &set, .set_count = 1};
  jostle_pairs found = {.size = sizeof found};
  check(jostle_find(finder, &input, &found), finder);
  uint64_t sum = 0;
  for (size_t i = 0; i < found.count; i++) sum += (uint64_t)found.pairs[i][0] * (i + 1) + found.pairs[i][1];
  printf("pairs %zu, checksum %llu\n", found.count, (unsigned long long)sum);

  /* Visits pairs on threads of the host's. */
  jostle_host host = {.size = sizeof host, .workers = CREW, .run = run};
  jostle_threads *threads = NULL;
  atomic_size_t visited = 0;
  check(jostle_threads_host(&host, &threads), NULL);
  check(jostle_finder_set_threads(finder, threads), finder);
  jostle_threads_free(threads); /* the finder keeps what it needs */
  check(jostle_for_each_pair(finder, &input, visit, &visited), finder);
  printf("visited %zu\n", (size_t)visited);

  /* Space repeats in x. */
  jostle_space space = {.size = sizeof space, .kind = JOSTLE_SPACE_KIND_PERIODIC, .repeats = {1}, .hi = {200.0}};
  uint64_t count = 0;
  input.space = &space;
  check(jostle_count(finder, &input, &count), finder);
  printf("periodic %llu\n", (unsigned long long)count);
  input.space = NULL;

  /* Contacts: half of the agents step aside. */
  uint64_t *names = calloc(AGENTS, sizeof *names);
  if (names == NULL) exit(1);
  for (size_t i = 0; i < AGENTS; i++) names[i] = 1000 + i;
  jostle_contacts *contacts = NULL;
  check(jostle_contacts_new(&contacts), NULL);
  jostle_keys keys = {.size = sizeof keys, .count = AGENTS, .keys = names};
  jostle_changes changes = {.size = sizeof changes};
  for (int frame = 0; frame < 2; frame++) {
    check(jostle_find(finder, &input, &found), finder);
    check(jostle_contacts_update(contacts, finder, JOSTLE_RELATION_WITHIN, &keys, 1, &changes), contacts);
    for (int i = 0; i < AGENTS; i += 2) agents[i].x += 0.125f;
  }
  printf("contacts %zu begin, %zu persist, %zu end\n", changes.begin.count, changes.persist.count, changes.end.count);
  jostle_contacts_free(contacts);

  /* A refused body is named by its id. */
  agents[7].x = NAN;
  jostle_error error = {.size = sizeof error};
  if (jostle_find(finder, &input, &found) != JOSTLE_STATUS_BODIES) exit(1);
  check(jostle_last_error(finder, &error), NULL);
  printf("refused %zu, the first is %llu\n", error.offenders, (unsigned long long)error.first[0].id);

  jostle_finder_free(finder);
  free(names);
  free(agents);
}

/* Grains of two kinds drift. Only pairs of different kinds count: the search asks keep about each pair. */
static int32_t keep(void *user, uint32_t a, uint32_t b) {
  const uint8_t *kind = user;
  return kind[a] != kind[b];
}

static void drifting_grains(void) {
  enum { GRAINS = 20000, FRAMES = 10 };
  static double x[GRAINS], y[GRAINS], drift[GRAINS], radius = 0.5;
  static uint8_t kind[GRAINS];
  uint32_t seed = 5;
  for (int i = 0; i < GRAINS; i++) {
    x[i] = next(&seed) * 150.0;
    y[i] = next(&seed) * 150.0;
    drift[i] = (next(&seed) - 0.5) / 256.0;
    kind[i] = i % 3 == 0;
  }
  jostle_set set = {.size = sizeof set, .count = GRAINS, .number = JOSTLE_NUMBER_DOUBLE};
  set.center[0] = field(x, sizeof x[0]);
  set.center[1] = field(y, sizeof y[0]);
  set.radius = field(&radius, 0); /* one radius for all */
  jostle_input input = {.size = sizeof input, .sets = &set, .set_count = 1, .only = keep, .only_user = kind};

  jostle_finder *finder = NULL; /* for frames in which bodies move little */
  check(jostle_finder_new_coherent(2, &finder), NULL);
  jostle_pairs found = {.size = sizeof found};
  jostle_contact_geometry contacts = {.size = sizeof contacts};
  double deepest = 0.0;
  size_t sum = 0;
  for (int frame = 0; frame < FRAMES; frame++) {
    for (int i = 0; i < GRAINS; i++) x[i] += drift[i];
    check(jostle_find(finder, &input, &found), finder);
    check(jostle_find_contact_geometry(finder, &input, JOSTLE_NUMBER_DOUBLE, &contacts), finder);
    sum += contacts.count;
    for (size_t i = 0; i < contacts.count; i++)
      if (contacts.depths_double[i * contacts.step] > deepest) deepest = contacts.depths_double[i * contacts.step];
  }
  jostle_frames frames = {.size = sizeof frames};
  check(jostle_finder_frames(finder, &frames), finder);
  printf("%d frames, %llu from scratch: %zu contacts, the deepest %.6f\n", FRAMES, (unsigned long long)frames.rebuilds, sum,
         deepest);
  jostle_finder_free(finder);
}

/* Atoms as LAMMPS holds them: double x[n][3], the owned atoms first, then ghosts; one cutoff. */
static void owned_atoms_and_ghosts(void) {
  double(*x)[3] = calloc(OWNED + GHOSTS, sizeof *x);
  if (x == NULL) exit(1);
  uint32_t seed = 2;
  for (int i = 0; i < OWNED + GHOSTS; i++)
    for (int axis = 0; axis < 3; axis++) x[i][axis] = next(&seed) * 16.0;

  jostle_set sets[2] = {{.size = sizeof sets[0]}, {.size = sizeof sets[0]}};
  for (int i = 0; i < 2; i++) {
    sets[i].count = i == 0 ? OWNED : GHOSTS;
    sets[i].number = JOSTLE_NUMBER_DOUBLE;
    sets[i].cutoff = 1.25;
    for (int axis = 0; axis < 3; axis++) sets[i].center[axis] = field(&x[i * OWNED][axis], sizeof x[0]);
  }
  jostle_finder *finder = NULL;
  check(jostle_finder_new(3, &finder), NULL);

  /* Lists once each pair of two owned atoms, and each pair of an owned atom and a ghost. */
  const uint8_t table[2][2] = {{1, 1}, {0, 0}};
  jostle_input input = {.size = sizeof input, .sets = sets, .set_count = 2, .relation = JOSTLE_RELATION_AMONG};
  input.table = &table[0][0];
  jostle_pairs found = {.size = sizeof found}, owned = found, ghosts = found;
  check(jostle_find(finder, &input, &found), finder);
  check(jostle_pairs_between(finder, 0, 0, &owned), finder);
  check(jostle_pairs_between(finder, 0, 1, &ghosts), finder);
  printf("atoms %zu: %zu owned, %zu with ghosts\n", found.count, owned.count, ghosts.count);

  /* A full list: the row of each owned atom holds all atoms within the cutoff, itself among them. */
  jostle_set all = sets[0];
  all.count = OWNED + GHOSTS;
  jostle_set against[2] = {sets[0], all};
  jostle_input rows = {.size = sizeof rows, .sets = against, .set_count = 2, .relation = JOSTLE_RELATION_BETWEEN};
  jostle_lists *lists = NULL;
  jostle_neighbors neighbors = {.size = sizeof neighbors};
  check(jostle_lists_new(JOSTLE_LISTS_DISTANCES2_DOUBLE, &lists), NULL);
  check(jostle_neighbors_find(finder, &rows, JOSTLE_ROWS_FULL, lists, &neighbors), finder);
  size_t others = 0;
  for (size_t i = 0; i < neighbors.rows; i++)
    for (size_t at = neighbors.offsets[i]; at < neighbors.offsets[i + 1]; at++)
      others += neighbors.ids[at] != i && neighbors.distances2_double[at] <= 1.25 * 1.25;
  printf("neighbours %zu\n", others);

  jostle_lists_free(lists);
  jostle_finder_free(finder);
  free(x);
}

int main(void) {
  agents_in_structs();
  drifting_grains();
  owned_atoms_and_ghosts();
  return 0;
}
