/*
 * Jostle: every overlapping pair among N moving circles or spheres, found in parallel, exactly and in a fixed order.
 *
 *   jostle_finder *finder = NULL;
 *   if (jostle_finder_new(2, &finder) != JOSTLE_STATUS_OK) return 1;        // make it once, keep it
 *
 *   jostle_set set = {.size = sizeof set};                                  // all else is 0
 *   set.count = n;
 *   set.center[0] = (jostle_column){&agents[0].x, sizeof agents[0]};        // float x, y, radius in structs of yours
 *   set.center[1] = (jostle_column){&agents[0].y, sizeof agents[0]};
 *   set.radius = (jostle_column){&agents[0].radius, sizeof agents[0]};
 *   jostle_input input = {.size = sizeof input, .sets = &set, .set_count = 1};
 *   jostle_pairs found = {.size = sizeof found};
 *   if (jostle_find(finder, &input, &found) == JOSTLE_STATUS_OK)
 *     for (size_t i = 0; i < found.count; i++) meet(found.pairs[i][0], found.pairs[i][1]);
 *
 *   jostle_finder_free(finder);
 *
 * What holds for all of it:
 * - Structs that begin with a size are to be cleared, and sizeof the struct written there: later versions add fields at the end.
 *   jostle_column, jostle_offender and jostle_contact_list have no size and stay as they are; jostle_hit is made by the library.
 * - Pointers are null where that is allowed, or lead to what they say for as long as the call lasts. Null, misaligned structs,
 *   sizes, choices and strides that make no sense get a code. Input is read in place, and never written.
 * - What is lent (pairs, lists, messages) belongs to a handle and lives until the next call on that handle but jostle_last_error, or
 *   until it is freed.
 *   A call that fails changes nothing: what was lent before it stays, but for the message.
 * - A handle serves one call at a time; a second one gets JOSTLE_STATUS_BUSY. Give each thread its own. Threads may share
 *   jostle_threads, and ask one jostle_prepared. A handle must not be freed while a call uses it, nor used afterwards.
 * - Nothing unwinds out of a call, and nothing may unwind into one: visitors, tests and run of jostle_host let no exception out.
 *   When memory runs out, the program is aborted.
 *
 * Generated from the source by cbindgen: `JOSTLE_WRITE_HEADER=1 cargo test -p jostle-c header`.
 */

#ifndef JOSTLE_H
#define JOSTLE_H

#include <stddef.h>
#include <stdint.h>

/**
 * Of jostle_lists_new: squared distances in float.
 */
#define JOSTLE_LISTS_DISTANCES2 1

/**
 * Of jostle_lists_new: squared distances in double.
 */
#define JOSTLE_LISTS_DISTANCES2_DOUBLE 2

/**
 * Of jostle_lists_new: by how many vectors of the cell each neighbour is moved.
 */
#define JOSTLE_LISTS_IMAGE_SHIFTS 4

/**
 * Of jostle_lists_new: the vector to each neighbour.
 */
#define JOSTLE_LISTS_VECTORS 8

/**
 * What a function returns: 0 when it has done its work. Otherwise nothing was changed, answers of earlier calls stand, and
 * jostle_last_error tells more.
 */
enum jostle_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * All is well.
   */
  JOSTLE_STATUS_OK = 0,
  /**
   * A pointer that has to lead somewhere is null.
   */
  JOSTLE_STATUS_NULL_POINTER = 1,
  /**
   * A pointer to structs or to integers is not aligned as its type asks. Coordinates and radii need no alignment.
   */
  JOSTLE_STATUS_MISALIGNED = 2,
  /**
   * The size that a struct begins with is not that of this version of the library: write sizeof of the struct there.
   */
  JOSTLE_STATUS_STRUCT_SIZE = 3,
  /**
   * An integer that chooses is none of those that this version knows.
   */
  JOSTLE_STATUS_UNKNOWN_VALUE = 4,
  /**
   * Values so many and so far apart do not fit into memory: is the stride in bytes, and the count that of the bodies?
   */
  JOSTLE_STATUS_OVERFLOW = 5,
  /**
   * A stride is negative, or so short that values overlap.
   */
  JOSTLE_STATUS_STRIDE = 6,
  /**
   * A handle is not of the kind that the function takes.
   */
  JOSTLE_STATUS_WRONG_HANDLE = 7,
  /**
   * The handle is in use by another call, of another thread or of the caller of this function.
   */
  JOSTLE_STATUS_BUSY = 8,
  /**
   * Dimensions are neither 2 nor 3, or those of two handles differ.
   */
  JOSTLE_STATUS_DIMENSIONS = 9,
  /**
   * Bodies have values outside the contract; jostle_last_error names them.
   */
  JOSTLE_STATUS_BODIES = 10,
  /**
   * A number is out of its range.
   */
  JOSTLE_STATUS_PARAMETER = 11,
  /**
   * The space is none: borders that do not ascend, vectors in one plane, or bodies that reach over too many images.
   */
  JOSTLE_STATUS_SPACE = 12,
  /**
   * Parts of a search do not go together.
   */
  JOSTLE_STATUS_COMBINATION = 13,
  /**
   * A query is outside the contract.
   */
  JOSTLE_STATUS_QUERY = 14,
  /**
   * Pairs or keys of contacts are at fault; jostle_last_error names them.
   */
  JOSTLE_STATUS_CONTACTS = 15,
  /**
   * Threads could not be started.
   */
  JOSTLE_STATUS_THREADS = 16,
  /**
   * A defect of the library. The handle stays usable; please report it with its message.
   */
  JOSTLE_STATUS_PANIC = 17,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum jostle_status jostle_status;
#else
typedef int32_t jostle_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What is wrong with one body, query, key or pair.
 */
enum jostle_reason
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * See the message.
   */
  JOSTLE_REASON_OTHER = 0,
  /**
   * A coordinate, of a body or a query, is NaN or infinite.
   */
  JOSTLE_REASON_COORDINATE_NOT_FINITE = 1,
  /**
   * The radius is NaN or infinite.
   */
  JOSTLE_REASON_RADIUS_NOT_FINITE = 2,
  /**
   * The radius is below zero.
   */
  JOSTLE_REASON_RADIUS_NEGATIVE = 3,
  /**
   * So far from the origin, or so large, that squares would overflow: beyond 2^60 in float, 2^500 in double.
   */
  JOSTLE_REASON_TOO_FAR = 4,
  /**
   * So many cells from the origin that they cannot be counted.
   */
  JOSTLE_REASON_TOO_MANY_PERIODS = 5,
  /**
   * The displacement is NaN or infinite, or leads too far away.
   */
  JOSTLE_REASON_DISPLACEMENT = 6,
  /**
   * An earlier one has the same key, or is the same pair.
   */
  JOSTLE_REASON_REPEATED = 7,
  /**
   * An id that no body has.
   */
  JOSTLE_REASON_NO_SUCH_ID = 8,
  /**
   * The first id of a pair is not the lesser.
   */
  JOSTLE_REASON_NOT_ASCENDING = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum jostle_reason jostle_reason;
#else
typedef int32_t jostle_reason;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a space is made of.
 */
enum jostle_space_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It does not repeat.
   */
  JOSTLE_SPACE_KIND_OPEN = 0,
  /**
   * Some axes repeat, between lo and hi.
   */
  JOSTLE_SPACE_KIND_PERIODIC = 1,
  /**
   * A cell spanned by vectors, which repeats in some of their directions: a triclinic box.
   */
  JOSTLE_SPACE_KIND_LATTICE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum jostle_space_kind jostle_space_kind;
#else
typedef int32_t jostle_space_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Of what numbers are.
 */
enum jostle_number
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * float.
   */
  JOSTLE_NUMBER_FLOAT = 0,
  /**
   * double.
   */
  JOSTLE_NUMBER_DOUBLE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum jostle_number jostle_number;
#else
typedef int32_t jostle_number;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Which sets meet.
 */
enum jostle_relation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The bodies of one set, each two once.
   */
  JOSTLE_RELATION_WITHIN = 0,
  /**
   * Those of the first of two sets with those of the second.
   */
  JOSTLE_RELATION_BETWEEN = 1,
  /**
   * Those of many, as a table says.
   */
  JOSTLE_RELATION_AMONG = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum jostle_relation jostle_relation;
#else
typedef int32_t jostle_relation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Which neighbours stand in a row.
 */
enum jostle_rows
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Those with a greater id than the row's own: each pair once.
   */
  JOSTLE_ROWS_HALF = 0,
  /**
   * All: each pair twice.
   */
  JOSTLE_ROWS_FULL = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum jostle_rows jostle_rows;
#else
typedef int32_t jostle_rows;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What questions ask for.
 */
enum jostle_question
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The bodies that hold a point. Numbers: the point.
   */
  JOSTLE_QUESTION_POINT = 0,
  /**
   * The bodies that overlap a circle or sphere; touching counts. Numbers: its centre, its radius.
   */
  JOSTLE_QUESTION_CIRCLE = 1,
  /**
   * The bodies that touch a box. Numbers: its lower corner, its upper corner.
   */
  JOSTLE_QUESTION_BOX = 2,
  /**
   * The bodies that a ray hits, the nearest first. Numbers: its origin, its direction, how far it reaches; infinity in open
   * space for no end.
   */
  JOSTLE_QUESTION_RAY = 3,
  /**
   * The first of these. Numbers: as for a ray.
   */
  JOSTLE_QUESTION_FIRST_HIT = 4,
  /**
   * The centres nearest to a point, the nearest first: as many as jostle_query.nearest says, at most as far as
   * jostle_query.reach. Numbers: the point.
   */
  JOSTLE_QUESTION_NEAREST = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum jostle_question jostle_question;
#else
typedef int32_t jostle_question;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Tells which contacts begin, persist and end from frame to frame, by keys of the host's that stay with a body while it lives,
 * whatever its id is. Make it once and keep it.
 */
typedef struct jostle_contacts jostle_contacts;

/**
 * What searches: it owns all memory, so make it once and keep it. From the second search of a size on nothing is allocated but a
 * few hundred bytes for the sets. One call at a time may use it.
 */
typedef struct jostle_finder jostle_finder;

/**
 * Neighbour lists: they own their memory, so make them once and keep them. They belong to no finder.
 */
typedef struct jostle_lists jostle_lists;

/**
 * Bodies at rest, copied and sorted once for many searches, and for queries: walls, terrain, a crystal. It takes part in searches
 * as jostle_set.prepared. Several threads may search and ask it at once, while it is not built anew.
 */
typedef struct jostle_prepared jostle_prepared;

/**
 * What keeps the answers to questions: make one for each thread that asks, and keep it. It belongs to no set.
 */
typedef struct jostle_queries jostle_queries;

/**
 * The threads that the calls of one or several handles run on: one, a pool of the library's own, or those of the host. A handle
 * that none were given to uses the global pool, which has a thread for each core and is started by the first call that is worth
 * it. Results are the same bytes on any threads.
 */
typedef struct jostle_threads jostle_threads;

/**
 * One of those at fault.
 */
typedef struct jostle_offender {
  /**
   * The id of the body, or the number of the query or pair.
   */
  uint64_t id;
  /**
   * A jostle_reason.
   */
  int32_t reason;
  /**
   * 0 for x, 1 for y, 2 for z; -1 where it is about no axis.
   */
  int32_t axis;
} jostle_offender;

/**
 * Why the last failed call on a handle failed. All that it leads to lives until the next call on that handle.
 */
typedef struct jostle_error {
  /**
   * sizeof(jostle_error).
   */
  size_t size;
  /**
   * What the call returned, a jostle_status; JOSTLE_STATUS_OK when none has failed.
   */
  int32_t status;
  /**
   * Nothing yet.
   */
  int32_t reserved;
  /**
   * What is wrong, and what to do, for a person. It ends with a zero.
   */
  const char *message;
  /**
   * How many bodies, queries, keys or pairs are at fault; 0 where none in particular is.
   */
  size_t offenders;
  /**
   * The first of them, 16 at most, in ascending order.
   */
  const struct jostle_offender *first;
  /**
   * How many of them are named.
   */
  size_t first_count;
} jostle_error;

/**
 * Does one of the tasks of a region; made by the library. data is what run was given with it, number a number below its tasks.
 */
typedef void (*jostle_task)(void *data, size_t number);

/**
 * Runs task(data, 0), ..., task(data, tasks - 1), each once, on any threads, in any order, and returns when all have ended. They
 * may run one after the other; the calling thread may take part. Neither task nor data may be used after it has returned, and no
 * exception may leave it. Where several handles share threads, it is called by several threads at once.
 */
typedef void (*jostle_run)(void *host, size_t tasks, jostle_task task, void *data);

/**
 * Threads of the host.
 */
typedef struct jostle_host {
  /**
   * sizeof(jostle_host).
   */
  size_t size;
  /**
   * How many workers run at once; 0 counts as 1.
   */
  size_t workers;
  /**
   * Runs tasks on them.
   */
  jostle_run run;
  /**
   * The first argument of run, whatever it is.
   */
  void *host;
} jostle_host;

/**
 * How a finder of coherent frames has fared.
 */
typedef struct jostle_frames {
  /**
   * sizeof(jostle_frames).
   */
  size_t size;
  /**
   * How many frames have been searched from scratch so far, of all that were given.
   */
  uint64_t rebuilds;
  /**
   * How far the fastest bodies may be from where they were searched before that is done again, in lengths of the host; 0 while it is done in each frame.
   */
  double margin;
} jostle_frames;

/**
 * One value of every body: the first, and the distance in bytes from each to the next. An array of double has the stride
 * sizeof(double); a field of structs has the size of the struct; `double x[n][3]` is three columns, of x[0], x[0] + 1 and
 * x[0] + 2, with the stride sizeof x[0].
 *
 * Values need no alignment. Nothing from the first to the last may be written while a call reads it.
 */
typedef struct jostle_column {
  /**
   * The value of body 0. It may be null where there are no bodies, and where the field says what null means.
   */
  const void *data;
  /**
   * Bytes from one value to the next. 0: the value at data is that of all (not for coordinates). A negative one is refused.
   */
  ptrdiff_t stride;
} jostle_column;

/**
 * A set of bodies: circles or spheres, where they are, how they move, and who may meet whom. The id of a body is its place in
 * the columns, from 0. Clear all of it, then fill in what counts: `jostle_set set = {.size = sizeof set};`.
 */
typedef struct jostle_set {
  /**
   * sizeof(jostle_set).
   */
  size_t size;
  /**
   * How many bodies.
   */
  size_t count;
  /**
   * Of what the coordinates and radii are, a jostle_number. Sets in double are decided in double.
   */
  int32_t number;
  /**
   * Of what the displacements are, a jostle_number.
   */
  int32_t displacement_number;
  /**
   * x, y and, in three dimensions, z.
   */
  struct jostle_column center[3];
  /**
   * The radii; null for 0, a stride of 0 for one that all have.
   */
  struct jostle_column radius;
  /**
   * Added to each radius; for lists that are kept for several steps (jostle_still_valid). Rounded to float for sets in float.
   */
  double margin;
  /**
   * If it is above 0, two bodies are a pair when their centres are at most so far apart, whatever their radii are.
   * Rounded to float for sets in float.
   */
  double cutoff;
  /**
   * How far each body moves on each axis during the step, in a straight line; all null for bodies at rest.
   */
  struct jostle_column displacement[3];
  /**
   * What each body is, uint32_t; null for all bits, a stride of 0 for one value of all. Two bodies may meet when each one's
   * mask has a bit of the other's category.
   */
  struct jostle_column category;
  /**
   * What each body meets, uint32_t; null for all bits.
   */
  struct jostle_column mask;
  /**
   * Bodies of one group, int32_t, other than 0 always meet (above 0) or never do (below); null for 0.
   */
  struct jostle_column group;
  /**
   * Bodies that were sorted before (jostle_prepared_build), in place of all columns but the layers and displacements; null
   * for none. number, center, radius, margin and cutoff are then those that it was built with, and count is not looked at.
   */
  const struct jostle_prepared *prepared;
} jostle_set;

/**
 * The space that bodies are in. Of two dimensions, the first two numbers count.
 *
 * Where it repeats, a body counts at every image of its place; coordinates may lie outside of the cell. Two bodies meet at each
 * image of the second that touches the first, so that the cutoff may be larger than the cell.
 */
typedef struct jostle_space {
  /**
   * sizeof(jostle_space).
   */
  size_t size;
  /**
   * A jostle_space_kind.
   */
  int32_t kind;
  /**
   * In which directions it repeats: 0 or 1 for each axis or vector.
   */
  uint8_t repeats[3];
  /**
   * Nothing yet.
   */
  uint8_t reserved;
  /**
   * The lower borders of axes that repeat, of a periodic space.
   */
  double lo[3];
  /**
   * The upper ones.
   */
  double hi[3];
  /**
   * The vectors of the cell of a lattice, one a row, right-handed; a direction that does not repeat needs one as well.
   */
  double vectors[3][3];
  /**
   * The corner of the cell of a lattice that its vectors lead from.
   */
  double origin[3];
} jostle_space;

/**
 * Tells whether a pair is to be kept: 0 if not. It is asked once for each that overlaps and that layers let through (by neighbour
 * lists, for each row that it stands in, and perhaps again), with the ids as they stand in the pair. Several threads ask it at
 * once, unless the search is on one; no exception may leave it, and it must not use the handle that asks it.
 */
typedef int32_t (*jostle_test)(void *user, uint32_t a, uint32_t b);

/**
 * What a search is of.
 */
typedef struct jostle_input {
  /**
   * sizeof(jostle_input).
   */
  size_t size;
  /**
   * The sets, side by side.
   */
  const struct jostle_set *sets;
  /**
   * How many sets: 1 within, 2 between, any number among.
   */
  size_t set_count;
  /**
   * Which of them meet, a jostle_relation.
   */
  int32_t relation;
  /**
   * Nothing yet.
   */
  int32_t reserved;
  /**
   * Among many: set_count times set_count bytes, row after row, where 1 at [i][j] or at [j][i] means that sets i and j meet,
   * and at [i][i] the bodies of set i each other.
   */
  const uint8_t *table;
  /**
   * The space that they are in; null for open space.
   */
  const struct jostle_space *space;
  /**
   * Keeps only pairs that it lets through; null for all. jostle_still_valid and contact geometry ask none.
   */
  jostle_test only;
  /**
   * The first argument of only, whatever it is.
   */
  void *only_user;
} jostle_input;

/**
 * Pairs, lent by a finder until its next call.
 */
typedef struct jostle_pairs {
  /**
   * sizeof(jostle_pairs).
   */
  size_t size;
  /**
   * How many pairs.
   */
  size_t count;
  /**
   * The ids of each: the lesser first within a set; between sets, that of the first set first. Their order is a function of
   * the input alone.
   */
  const uint32_t (*pairs)[2];
  /**
   * When the bodies of each pair first touch, from 0 to 1, where bodies move; null elsewhere.
   */
  const double *times_of_impact;
} jostle_pairs;

/**
 * Image shifts, lent by a finder until its next call.
 */
typedef struct jostle_image_shifts {
  /**
   * sizeof(jostle_image_shifts).
   */
  size_t size;
  /**
   * How many pairs have one: all, in a space that repeats, and none elsewhere.
   */
  size_t count;
  /**
   * For each pair as many numbers as there are dimensions: by how many vectors of the cell (or periods) the second body is
   * moved to touch the first.
   */
  const int32_t *shifts;
} jostle_image_shifts;

/**
 * Is called for each pair with what the host has passed for it. Several threads call it at once, unless the search is on one; no
 * exception may leave it, and it must not use the handle that calls it.
 */
typedef void (*jostle_visit)(void *user, uint32_t a, uint32_t b);

/**
 * A pair with all that is known of it, lent for the length of a call. Later versions may add fields at its end.
 */
typedef struct jostle_hit {
  /**
   * The numbers of the sets of the two bodies: 0 and 0 within one set, 0 and 1 between two.
   */
  uint32_t sets[2];
  /**
   * Their ids, as in a list.
   */
  uint32_t pair[2];
  /**
   * By how many vectors of the cell (or periods) the second body is moved to touch the first; 0 on an axis that there is not.
   */
  int32_t image_shift[3];
} jostle_hit;

/**
 * As jostle_visit, with all that is known of a pair.
 */
typedef void (*jostle_visit_hit)(void *user, const struct jostle_hit *hit);

/**
 * The neighbours of all bodies, lent by the lists until they are filled again: those of body i stand from offsets[i] to before
 * offsets[i + 1], ascending.
 */
typedef struct jostle_neighbors {
  /**
   * sizeof(jostle_neighbors).
   */
  size_t size;
  /**
   * How many rows: one for each body of the set, of two sets for each of the first.
   */
  size_t rows;
  /**
   * How many neighbours in all.
   */
  size_t count;
  /**
   * Where each row begins, rows + 1 numbers, the last of which is count.
   */
  const size_t *offsets;
  /**
   * The ids, count of them.
   */
  const uint32_t *ids;
  /**
   * The squared distance of centres to each; null unless it was asked for, as all below.
   */
  const float *distances2;
  /**
   * The same in double.
   */
  const double *distances2_double;
  /**
   * For each as many numbers as there are dimensions: by how many vectors of the cell it is moved to where it touches.
   */
  const int32_t *image_shifts;
  /**
   * For each as many numbers as there are dimensions: from the body of the row to it.
   */
  const double *vectors;
} jostle_neighbors;

/**
 * Questions of one kind.
 */
typedef struct jostle_query {
  /**
   * sizeof(jostle_query).
   */
  size_t size;
  /**
   * A jostle_question.
   */
  int32_t question;
  /**
   * Nothing yet.
   */
  int32_t reserved;
  /**
   * How many questions.
   */
  size_t count;
  /**
   * The numbers of each, as many as the kind of question takes in these dimensions, question after question.
   */
  const double *numbers;
  /**
   * How many of the nearest are asked for; of no meaning elsewhere.
   */
  size_t nearest;
  /**
   * How far away the nearest may be; infinity for any distance.
   */
  double reach;
} jostle_query;

/**
 * Answers, lent until the next questions: those to question i stand from offsets[i] to before offsets[i + 1].
 */
typedef struct jostle_answers {
  /**
   * sizeof(jostle_answers).
   */
  size_t size;
  /**
   * How many questions.
   */
  size_t questions;
  /**
   * How many answers in all.
   */
  size_t count;
  /**
   * Where the answers to each question begin, questions + 1 numbers.
   */
  const size_t *offsets;
  /**
   * The id of each body; ascending to a point, circle or box.
   */
  const uint32_t *ids;
  /**
   * For each as many numbers as there are dimensions: by how many vectors of the cell the body is moved to where it is met.
   */
  const int32_t *image_shifts;
  /**
   * How far each is, of rays and nearest; null elsewhere.
   */
  const double *distances;
} jostle_answers;

/**
 * The key of each id of one set: any numbers, each once.
 */
typedef struct jostle_keys {
  /**
   * sizeof(jostle_keys).
   */
  size_t size;
  /**
   * How many ids.
   */
  size_t count;
  /**
   * The keys, side by side and aligned.
   */
  const uint64_t *keys;
} jostle_keys;

/**
 * Contacts of one kind, lent until the next call.
 */
typedef struct jostle_contact_list {
  /**
   * How many.
   */
  size_t count;
  /**
   * The two keys of each: within a set the lesser first, else that of the lesser set.
   */
  const uint64_t (*keys)[2];
  /**
   * The ids of each; of contacts that ended, those of the last frame.
   */
  const uint32_t (*pairs)[2];
  /**
   * The slot of each: a small number of its own while the contact lasts, for what the host keeps for it.
   */
  const uint32_t *slots;
} jostle_contact_list;

/**
 * What has changed since the last frame, lent by the contacts until their next call.
 */
typedef struct jostle_changes {
  /**
   * sizeof(jostle_changes).
   */
  size_t size;
  /**
   * Contacts of this frame alone, in the order of its pairs.
   */
  struct jostle_contact_list begin;
  /**
   * Contacts of both frames, in the order of the pairs of this one.
   */
  struct jostle_contact_list persist;
  /**
   * Contacts of the last frame alone, in the order of its pairs.
   */
  struct jostle_contact_list end;
  /**
   * How many pairs this frame has.
   */
  size_t pair_count;
  /**
   * The slot of each pair of this frame.
   */
  const uint32_t *pair_slots;
  /**
   * How long an array has to be that has a place for each slot.
   */
  size_t slot_count;
} jostle_changes;

/**
 * The contact of each pair, lent by a finder until its next call. The number n of pair i stands at [i * step + n]: in float or in
 * double, as was asked; the others are null.
 */
typedef struct jostle_contact_geometry {
  /**
   * sizeof(jostle_contact_geometry).
   */
  size_t size;
  /**
   * How many contacts: one for each pair.
   */
  size_t count;
  /**
   * Numbers from one contact to the next.
   */
  size_t step;
  /**
   * The sum of the radii less the distance of the centres, and 0 where that is below 0.
   */
  const float *depths;
  /**
   * The direction from the centre of the first to that of the second, of length 1; as many numbers as there are dimensions.
   */
  const float *normals;
  /**
   * The middle of that part of the line through both centres which lies in both bodies; as many numbers.
   */
  const float *points;
  /**
   * The same in double.
   */
  const double *depths_double;
  /**
   * The same in double.
   */
  const double *normals_double;
  /**
   * The same in double.
   */
  const double *points_double;
} jostle_contact_geometry;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * One line on what a status means, which lives for ever; on an unknown one as well. For the reason of a certain failure,
 * jostle_last_error.
 */
const char *jostle_status_text(int32_t status);

/**
 * Tells why the last failed call on a handle failed: of any kind of handle but jostle_threads. A call with a null pointer for
 * its handle, or with one that was in use, has left nothing there; jostle_status_text says what is known.
 */
jostle_status jostle_last_error(const void *handle,
                                struct jostle_error *error);

/**
 * Makes the calling thread do all the work itself.
 */
jostle_status jostle_threads_serial(struct jostle_threads **out);

/**
 * Starts a pool of so many threads, from 1 to 1024, which end when the last handle that uses them is freed.
 */
jostle_status jostle_threads_pool(size_t count, struct jostle_threads **out);

/**
 * Lets the host's own threads do the work. What it leads to has to live until the last handle that uses it is freed; the struct
 * itself is copied.
 */
jostle_status jostle_threads_host(const struct jostle_host *host,
                                  struct jostle_threads **out);

/**
 * Frees the handle; the threads stay as long as others use them. Null is allowed.
 */
void jostle_threads_free(struct jostle_threads *threads);

/**
 * Makes a finder of circles (2 dimensions) or spheres (3).
 */
jostle_status jostle_finder_new(uint32_t dimensions, struct jostle_finder **out);

/**
 * Makes a finder of bodies that move little from frame to frame, which takes less than to search each from scratch. jostle_find and
 * jostle_neighbors_find give the answers of any finder, but for the order of pairs, which depends on the frames given; counts,
 * visitors and jostle_still_valid get JOSTLE_STATUS_COMBINATION, as do bodies with a margin, since it chooses one of its own.
 * Make one for each input that is searched frame by frame, and one each where pairs and rows are asked for.
 */
jostle_status jostle_finder_new_coherent(uint32_t dimensions,
                                         struct jostle_finder **out);

/**
 * Frees it, and all that it has lent. Null is allowed.
 */
void jostle_finder_free(struct jostle_finder *finder);

/**
 * The threads of its searches from now on; null for the global pool. The handle of the threads may be freed afterwards.
 */
jostle_status jostle_finder_set_threads(struct jostle_finder *finder,
                                        const struct jostle_threads *threads);

/**
 * How many bytes it holds.
 */
jostle_status jostle_finder_bytes(struct jostle_finder *finder, size_t *out);

/**
 * How a finder of coherent frames has fared; of others, JOSTLE_STATUS_COMBINATION.
 */
jostle_status jostle_finder_frames(struct jostle_finder *finder, struct jostle_frames *out);

/**
 * Searches the next frame from scratch, whatever has been kept; of other finders, JOSTLE_STATUS_COMBINATION.
 */
jostle_status jostle_finder_forget(struct jostle_finder *finder);

/**
 * Finds every overlapping pair: those whose centres are at most as far apart as their radii are long together.
 */
jostle_status jostle_find(struct jostle_finder *finder,
                          const struct jostle_input *input,
                          struct jostle_pairs *out);

/**
 * Of the last list, the pairs of sets i and j, the lesser number first; none where the sets do not meet.
 */
jostle_status jostle_pairs_between(struct jostle_finder *finder,
                                   size_t i,
                                   size_t j,
                                   struct jostle_pairs *out);

/**
 * The image shift of each pair of the last list, worked out when it is asked for.
 */
jostle_status jostle_find_image_shifts(struct jostle_finder *finder, struct jostle_image_shifts *out);

/**
 * Counts the overlapping pairs; no list is made.
 */
jostle_status jostle_count(struct jostle_finder *finder, const struct jostle_input *input, uint64_t *out);

/**
 * Calls visit(user, a, b) once for each overlapping pair, from the threads that find them: in no fixed order, except that one
 * thread alone keeps that of the list. No list is made. This is the fold of C: what user leads to takes the sum, by atomics or one
 * for each thread; for a sum of floats that is the same on any threads, take one thread, or sum over the list.
 */
jostle_status jostle_for_each_pair(struct jostle_finder *finder,
                                   const struct jostle_input *input,
                                   jostle_visit visit,
                                   void *user);

/**
 * As jostle_for_each_pair, with the sets and the image of each pair.
 */
jostle_status jostle_for_each_hit(struct jostle_finder *finder,
                                  const struct jostle_input *input,
                                  jostle_visit_hit visit,
                                  void *user);

/**
 * Whether lists that were made of bodies with a margin still hold all pairs of these bodies, which are given as they were then,
 * with the margin or without: writes 1 if so, else 0.
 */
jostle_status jostle_still_valid(struct jostle_finder *finder,
                                 const struct jostle_input *input,
                                 int32_t *out);

/**
 * Makes lists of nothing; columns is 0, or the sum of what searches are to fill in beside ids: JOSTLE_LISTS_DISTANCES2 ...
 */
jostle_status jostle_lists_new(uint32_t columns,
                               struct jostle_lists **out);

/**
 * Frees them, and all that they have lent. Null is allowed.
 */
void jostle_lists_free(struct jostle_lists *lists);

/**
 * Fills lists with the neighbours of each body, a jostle_rows of them: within a set, or, between two, for each body of the first
 * those of the second. Many sets have no lists: ask for those of each two. Errors are kept by the finder.
 */
jostle_status jostle_neighbors_find(struct jostle_finder *finder,
                                    const struct jostle_input *input,
                                    int32_t rows,
                                    struct jostle_lists *lists,
                                    struct jostle_neighbors *out);

/**
 * Makes a set of nothing in 2 or 3 dimensions.
 */
jostle_status jostle_prepared_new(uint32_t dimensions, struct jostle_prepared **out);

/**
 * Frees it. Null is allowed.
 */
void jostle_prepared_free(struct jostle_prepared *prepared);

/**
 * The threads that it is built on; null for the global pool.
 */
jostle_status jostle_prepared_set_threads(struct jostle_prepared *prepared,
                                          const struct jostle_threads *threads);

/**
 * Copies bodies, without layers and displacements, which belong to each search, and sorts them for searches in a space (null for
 * open space). When it fails the set is one of nothing.
 */
jostle_status jostle_prepared_build(struct jostle_prepared *prepared,
                                    const struct jostle_set *set,
                                    const struct jostle_space *space);

/**
 * Makes memory for answers in 2 or 3 dimensions.
 */
jostle_status jostle_queries_new(uint32_t dimensions, struct jostle_queries **out);

/**
 * Frees it, and all that it has lent. Null is allowed.
 */
void jostle_queries_free(struct jostle_queries *queries);

/**
 * The threads that several questions at once are answered on; null for the global pool. A single one is answered by the caller.
 */
jostle_status jostle_queries_set_threads(struct jostle_queries *queries,
                                         const struct jostle_threads *threads);

/**
 * Answers questions about the bodies of a prepared set and all their images, in double, one or many at once.
 */
jostle_status jostle_query_ask(struct jostle_queries *queries,
                               const struct jostle_prepared *prepared,
                               const struct jostle_query *query,
                               struct jostle_answers *out);

/**
 * Makes a tracker that has seen no frame.
 */
jostle_status jostle_contacts_new(struct jostle_contacts **out);

/**
 * Frees it, and all that it has lent. Null is allowed.
 */
void jostle_contacts_free(struct jostle_contacts *contacts);

/**
 * The threads of its updates from now on; null for the global pool.
 */
jostle_status jostle_contacts_set_threads(struct jostle_contacts *contacts,
                                          const struct jostle_threads *threads);

/**
 * Compares the last list of a finder, image shifts included, with that of the last update. relation is the jostle_relation of the
 * search, and keys leads to those of each of its sets.
 */
jostle_status jostle_contacts_update(struct jostle_contacts *contacts,
                                     struct jostle_finder *finder,
                                     int32_t relation,
                                     const struct jostle_keys *keys,
                                     size_t set_count,
                                     struct jostle_changes *out);

/**
 * As jostle_contacts_update, of pairs of the host's own within one set, the lesser id of each first, or between two.
 */
jostle_status jostle_contacts_update_pairs(struct jostle_contacts *contacts,
                                           const uint32_t (*pairs)[2],
                                           size_t pair_count,
                                           int32_t relation,
                                           const struct jostle_keys *keys,
                                           size_t set_count,
                                           struct jostle_changes *out);

/**
 * Where and how deep the bodies of each pair of the last list overlap. input is what was searched; number, a jostle_number, is that
 * of the answer. Where space repeats, the second body is at the image that the image shift says, and the point lies near the
 * first as it was given; of bodies that move, the contact is that of the moment when they first touch; margins count as parts of
 * radii.
 */
jostle_status jostle_find_contact_geometry(struct jostle_finder *finder,
                                           const struct jostle_input *input,
                                           int32_t number,
                                           struct jostle_contact_geometry *out);

/**
 * As jostle_find_contact_geometry, of pairs of the host's own, in open space: some of a list, say.
 */
jostle_status jostle_contact_geometry_of(struct jostle_finder *finder,
                                         const uint32_t (*pairs)[2],
                                         size_t pair_count,
                                         const struct jostle_input *input,
                                         int32_t number,
                                         struct jostle_contact_geometry *out);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* JOSTLE_H */
