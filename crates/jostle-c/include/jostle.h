/*
 * Jostle: every overlapping pair among N moving circles or spheres, boxes or capsules, found in parallel, exactly and in
 * a fixed order. In C++, jostle.hpp is shorter, and throws what is a code here.
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
 * What holds for all functions:
 * - Clear each struct that begins with a size, and write sizeof the struct there: later versions add fields at the
 *   end, and a library of another size than the header's says so (JOSTLE_STATUS_STRUCT_SIZE). jostle_column,
 *   jostle_offender and jostle_contact_list have no size and stay as they are. The library makes jostle_hit.
 * - A pointer is null where that is allowed, or leads to what its description says for as long as the call lasts.
 *   Null elsewhere, misaligned structs, and sizes, choices and strides that make no sense get a code. Input is read in
 *   place, and never written. It must not lie in memory that the same call fills anew.
 * - What a handle lends lives until the handle is freed, or until a call like that which lent it:
 *     pairs, times of impact   jostle_find or jostle_neighbors_find on the finder
 *     image shifts             jostle_find_image_shifts
 *     contact geometry         jostle_find_contact_geometry or jostle_contact_geometry_of
 *     neighbours               jostle_neighbors_find into these lists
 *     answers                  jostle_query_ask
 *     changes of contacts      jostle_contacts_update or jostle_contacts_update_pairs
 *     an error                 any call on that handle that fails
 *   All other calls leave it: so image shifts and contact geometry stand beside the pairs that they are of, and pairs
 *   may be passed to calls on the finder that lent them.
 * - A call that fails changes nothing but the error. Only a jostle_prepared may be empty after a build that fails, the
 *   list of a finder after JOSTLE_STATUS_PANIC or JOSTLE_STATUS_TOO_MANY_PAIRS, and the neighbour lists of a coherent
 *   finder after the latter.
 * - A handle serves one call at a time; a second call gets JOSTLE_STATUS_BUSY. Give each thread handles of its own.
 *   Threads may share jostle_threads, and ask one jostle_prepared. Do not free a handle while a call uses it, and do
 *   not use it afterwards.
 * - Nothing unwinds out of a call, and nothing may unwind into one: visitors, tests and run of jostle_host let no
 *   exception out, which would abort the program, and do not longjmp out, which would leave the handle in use for ever.
 *   When memory runs out for anything but a list of pairs, the program is aborted.
 *
 * Generated from the source by cbindgen: `JOSTLE_WRITE_HEADER=1 cargo test -p jostle-c header`.
 */

#ifndef JOSTLE_H
#define JOSTLE_H

#include <stddef.h>
#include <stdint.h>

#define JOSTLE_VERSION_MAJOR 0
#define JOSTLE_VERSION_MINOR 1
#define JOSTLE_VERSION_PATCH 0

/**
 * A column for jostle_lists_new: squared distances in float.
 */
#define JOSTLE_LISTS_DISTANCES2 1

/**
 * A column for jostle_lists_new: squared distances in double.
 */
#define JOSTLE_LISTS_DISTANCES2_DOUBLE 2

/**
 * A column for jostle_lists_new: by how many vectors of the cell each neighbour is moved.
 */
#define JOSTLE_LISTS_IMAGE_SHIFTS 4

/**
 * A column for jostle_lists_new: the vector to each neighbour.
 */
#define JOSTLE_LISTS_VECTORS 8

/**
 * What a function returns: 0 when it has done its work. Otherwise the call has changed nothing, answers of earlier
 * calls stand, but for what the rules at the top of this header except, and jostle_last_error tells more.
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
   * An integer that chooses an option has a value that this version does not know.
   */
  JOSTLE_STATUS_UNKNOWN_VALUE = 4,
  /**
   * So many values so far apart do not fit into memory: is the stride in bytes, and the count that of the bodies?
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
   * Dimensions are neither 2 nor 3, those of two handles differ, or z is given in 2.
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
   * The space is not one that bodies can be in: borders do not ascend, vectors lie in one plane, or bodies reach
   * over too many images.
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
  /**
   * There are more pairs or neighbours than jostle_finder_set_max_pairs allows, or than memory holds. After
   * jostle_find, the finder's list is empty; neighbour lists may be, by a finder of coherent frames.
   */
  JOSTLE_STATUS_TOO_MANY_PAIRS = 18,
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
   * A coordinate, of a body or a query, is NaN or infinite; for a capsule, that of either end.
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
   * The body or query is so far from the origin, or so large, that squares would overflow: beyond 2^60 in float,
   * 2^500 in double.
   */
  JOSTLE_REASON_TOO_FAR = 4,
  /**
   * The body is so many cells from the origin that they cannot be counted.
   */
  JOSTLE_REASON_TOO_MANY_PERIODS = 5,
  /**
   * The displacement is NaN or infinite, or leads too far away.
   */
  JOSTLE_REASON_DISPLACEMENT = 6,
  /**
   * An earlier body has the same key, or an earlier pair is the same.
   */
  JOSTLE_REASON_REPEATED = 7,
  /**
   * A pair has an id that no body has.
   */
  JOSTLE_REASON_NO_SUCH_ID = 8,
  /**
   * The first id of a pair is not the lesser.
   */
  JOSTLE_REASON_NOT_ASCENDING = 9,
  /**
   * A corner of a box is NaN, or infinite on the wrong side.
   */
  JOSTLE_REASON_CORNER = 10,
  /**
   * The lower corner of a box, of a body or a query, lies above the upper one.
   */
  JOSTLE_REASON_CORNERS_SWAPPED = 11,
  /**
   * A box reaches to infinity where space repeats.
   */
  JOSTLE_REASON_ENDLESS = 12,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum jostle_reason jostle_reason;
#else
typedef int32_t jostle_reason;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How a space repeats.
 */
enum jostle_space_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Space does not repeat.
   */
  JOSTLE_SPACE_KIND_OPEN = 0,
  /**
   * Some axes repeat, between lo and hi.
   */
  JOSTLE_SPACE_KIND_PERIODIC = 1,
  /**
   * A cell spanned by vectors repeats in the directions of some of them: a triclinic box.
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
 * The precision of numbers.
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
 * The shape of the bodies of a set. Sets of all shapes meet each other, in either precision and in any space.
 */
enum jostle_shape
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Circles or spheres.
   */
  JOSTLE_SHAPE_BALL = 0,
  /**
   * Axis-aligned boxes, from the corner center to the corner end. Two boxes overlap when they do so on each axis;
   * touching counts. A box may be a point or a line, and may reach to infinity in open space.
   */
  JOSTLE_SHAPE_BOX = 1,
  /**
   * Capsules: all points within radius of the segment from center to end.
   */
  JOSTLE_SHAPE_CAPSULE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum jostle_shape jostle_shape;
#else
typedef int32_t jostle_shape;
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
   * The bodies of one set meet each other, each two once.
   */
  JOSTLE_RELATION_WITHIN = 0,
  /**
   * The bodies of the first of two sets meet those of the second.
   */
  JOSTLE_RELATION_BETWEEN = 1,
  /**
   * The bodies of many sets meet as a table says.
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
   * Within a set, neighbours with a greater id than the row's own, and the row's own body once for each two opposite
   * images that it touches: each pair once. Between two sets, as JOSTLE_ROWS_FULL. Among many, in the row of the
   * body of the lesser set.
   */
  JOSTLE_ROWS_HALF = 0,
  /**
   * All neighbours: within a set, and among many, each pair twice.
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
 * Kinds of questions, and the numbers that each takes.
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
   * The bodies that a ray hits, the nearest first. Numbers: its origin, its direction, its reach. The reach may be
   * infinite in open space.
   */
  JOSTLE_QUESTION_RAY = 3,
  /**
   * The first body that a ray hits. Numbers: as for JOSTLE_QUESTION_RAY.
   */
  JOSTLE_QUESTION_FIRST_HIT = 4,
  /**
   * The bodies whose centres are nearest to a point, the nearest first: as many as jostle_query.nearest says, at
   * most as far away as jostle_query.reach. The whole of a box counts as its centre, and so does the axis of a
   * capsule. Numbers: the point.
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
 * Tells which contacts begin, persist and end from frame to frame. Bodies are known by keys of the host's: a body
 * keeps its key while it lives, whatever its id is. Make a tracker once and keep it.
 */
typedef struct jostle_contacts jostle_contacts;

/**
 * Searches for pairs. A finder owns all memory of its searches, so make it once and keep it. From the second search of
 * a size on, nothing is allocated but a few hundred bytes for the sets. One call at a time may use it.
 */
typedef struct jostle_finder jostle_finder;

/**
 * Neighbour lists: they own their memory, so make them once and keep them. They belong to no finder.
 */
typedef struct jostle_lists jostle_lists;

/**
 * Bodies at rest, copied and sorted once for many searches and for queries: walls, terrain, a crystal. A search takes
 * them as jostle_set.prepared. Several threads may search and ask a prepared set at once, while no call builds it
 * anew.
 */
typedef struct jostle_prepared jostle_prepared;

/**
 * Keeps the answers to questions: make one for each thread that asks, and keep it. It belongs to no set.
 */
typedef struct jostle_queries jostle_queries;

/**
 * The threads that the calls of one or several handles run on: the calling thread alone, a pool of the library's own,
 * or threads of the host. A handle that was given none uses the global pool, which has a thread for each core and is
 * started by the first call that is worth it. Results are the same bytes on any threads.
 */
typedef struct jostle_threads jostle_threads;

/**
 * A body, query, key or pair at fault.
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
   * 0 for x, 1 for y, 2 for z; -1 where the reason concerns no axis.
   */
  int32_t axis;
} jostle_offender;

/**
 * Why the last failed call on a handle failed. All that it leads to lives until the next call on that handle fails.
 */
typedef struct jostle_error {
  /**
   * sizeof(jostle_error).
   */
  size_t size;
  /**
   * What the call returned, a jostle_status; JOSTLE_STATUS_OK when no call has failed.
   */
  int32_t status;
  /**
   * The number of the set of the input that is at fault; -1 where none in particular is.
   */
  int32_t set;
  /**
   * What is wrong, and what to do about it, for a person. The text ends with a zero byte.
   */
  const char *message;
  /**
   * How many bodies, queries, keys or pairs are at fault; 0 where none in particular is.
   */
  size_t offenders;
  /**
   * The first offenders, 16 at most, in ascending order.
   */
  const struct jostle_offender *first;
  /**
   * How many offenders first leads to.
   */
  size_t first_count;
} jostle_error;

/**
 * Does one task of a region. The library makes this function. data is the pointer that run was given with the task,
 * and number is less than the number of tasks that run was given.
 */
typedef void (*jostle_task)(void *data, size_t number);

/**
 * Runs task(data, 0), ..., task(data, tasks - 1), each once, on any threads, in any order, and returns when all have
 * ended. Tasks may run one after the other, and the calling thread may take part. After run has returned, neither task
 * nor data may be used. No exception may leave run. Where several handles share threads, several threads call run at
 * once.
 *
 * Each task does all the work that it finds left. So tasks may be left out: those that run do their work, and if none
 * runs, the calling thread does it after run has returned. A task that is run twice, and a number that is not below
 * tasks, do no harm. The result is the same, only later.
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
   * How many workers run at once; 0 counts as 1, and more than 256 as 256.
   */
  size_t workers;
  /**
   * Runs tasks on the workers.
   */
  jostle_run run;
  /**
   * The first argument of run, whatever it is.
   */
  void *host;
} jostle_host;

/**
 * How often a finder of coherent frames has searched from scratch, and its margin.
 */
typedef struct jostle_frames {
  /**
   * sizeof(jostle_frames).
   */
  size_t size;
  /**
   * How many of the frames given so far were searched from scratch.
   */
  uint64_t rebuilds;
  /**
   * How far the fastest bodies may be from where they were searched before the next search from scratch, in the
   * host's unit of length; 0 while each frame is searched from scratch.
   */
  double margin;
} jostle_frames;

/**
 * One value of every body: a pointer to the first value, and the bytes from each value to the next. The stride of an
 * array of double is sizeof(double); that of a field of structs is the size of the struct. `double x[n][3]` is three
 * columns, at x[0], x[0] + 1 and x[0] + 2, each with the stride sizeof x[0].
 *
 * Values need no alignment. While a call reads a column, nothing from its first value to its last may be written.
 */
typedef struct jostle_column {
  /**
   * The value of body 0. Null is allowed where there are no bodies, and where the field of this type says what null
   * means.
   */
  const void *data;
  /**
   * Bytes from one value to the next. 0: all bodies have the value at data (not for coordinates and displacements).
   * A negative stride is refused.
   */
  ptrdiff_t stride;
} jostle_column;

/**
 * A set of bodies: where they are, how they move, and which of them may meet. The id of a body is its place in the
 * columns, from 0. Clear the whole struct, then fill in what counts: `jostle_set set = {.size = sizeof set};`. A set
 * has 4294967294 bodies at most. Columns that the shape or the dimensions have no use for are refused.
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
   * The precision of coordinates and radii, a jostle_number. Pairs of sets in double are decided in double.
   */
  int32_t number;
  /**
   * The precision of the displacements, a jostle_number.
   */
  int32_t displacement_number;
  /**
   * x, y and, in three dimensions, z of the centre, of the lower corner of a box, or of one end of a capsule's axis.
   */
  struct jostle_column center[3];
  /**
   * The radii of circles, spheres or capsules; null for 0, a stride of 0 for one radius of all bodies.
   */
  struct jostle_column radius;
  /**
   * A length that is added to each radius, and to boxes on every side, for lists that are kept for several steps
   * (jostle_still_valid). Rounded to float for sets in float.
   */
  double margin;
  /**
   * If the cutoff is above 0, two circles or spheres are a pair when their centres are at most this far apart,
   * whatever their radii are: each then has half of the cutoff as its radius, in queries and contact geometry too.
   * Other shapes take none. Rounded to float for sets in float.
   */
  double cutoff;
  /**
   * How far each body moves on each axis during the step, in a straight line and without turning; all null for
   * bodies at rest.
   */
  struct jostle_column displacement[3];
  /**
   * What each body is, in uint32_t; null for all bits, a stride of 0 for one value of all bodies. Two bodies may
   * meet when the mask of each has a bit of the other's category.
   */
  struct jostle_column category;
  /**
   * What each body meets, in uint32_t; null for all bits.
   */
  struct jostle_column mask;
  /**
   * The group of each body, in int32_t; null for 0. Bodies of one group other than 0 always meet (above 0) or never
   * do (below 0).
   */
  struct jostle_column group;
  /**
   * Bodies that were sorted before (jostle_prepared_build), in place of all columns but the layers and
   * displacements; null for none. The set then has the number, shape, center, end, radius, margin and cutoff that
   * the bodies were prepared with; these and count are not looked at.
   */
  const struct jostle_prepared *prepared;
  /**
   * The shape of the bodies, a jostle_shape.
   */
  int32_t shape;
  /**
   * Not used yet.
   */
  int32_t reserved;
  /**
   * x, y and, in three dimensions, z of the upper corner of a box, or of the other end of a capsule's axis. Null for
   * circles and spheres.
   */
  struct jostle_column end[3];
} jostle_set;

/**
 * The space that bodies are in. In two dimensions, the first two numbers of each array count.
 *
 * Where space repeats, a body counts at every image of its place; coordinates may lie outside of the cell. Two bodies
 * meet at each image of the second that touches the first, so the cutoff may be larger than the cell.
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
   * In which directions space repeats: 0 or 1 for each axis or vector.
   */
  uint8_t repeats[3];
  /**
   * Not used yet.
   */
  uint8_t reserved;
  /**
   * Of a periodic space, the lower borders of the axes that repeat.
   */
  double lo[3];
  /**
   * Of a periodic space, the upper borders of the axes that repeat.
   */
  double hi[3];
  /**
   * Of a lattice, the vectors of the cell, one a row, right-handed. A direction that does not repeat needs a vector
   * as well.
   */
  double vectors[3][3];
  /**
   * Of a lattice, the corner of the cell from which its vectors lead.
   */
  double origin[3];
} jostle_space;

/**
 * Tells whether a search keeps a pair: 0 if not. The search calls the test once for each pair that overlaps and that
 * layers let through, with the ids as they stand in the pair. Neighbour lists call it for each row that the pair
 * stands in, and perhaps again. Several threads call it at once, unless the search runs on one thread. No exception
 * may leave the test, and it must not use the handle that calls it.
 */
typedef int32_t (*jostle_test)(void *user, uint32_t a, uint32_t b);

/**
 * As jostle_test, of a pair of body a of set i and body b of set j.
 */
typedef int32_t (*jostle_test_of_sets)(void *user, uint32_t i, uint32_t j, uint32_t a, uint32_t b);

/**
 * The input of a search: sets, which of them meet, their space, and a test.
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
   * Which sets meet, a jostle_relation.
   */
  int32_t relation;
  /**
   * Not used yet.
   */
  int32_t reserved;
  /**
   * For JOSTLE_RELATION_AMONG: set_count times set_count bytes of 0 or 1, row after row. 1 at [i][j] or at [j][i]
   * means that sets i and j meet; 1 at [i][i], that the bodies of set i meet each other.
   */
  const uint8_t *table;
  /**
   * The space that the sets are in; null for open space.
   */
  const struct jostle_space *space;
  /**
   * Keeps only the pairs that this test lets through; null for all. jostle_still_valid and contact geometry do not
   * call it.
   */
  jostle_test only;
  /**
   * The first argument of only or only_of_sets, whatever it is.
   */
  void *only_user;
  /**
   * A test that knows the sets of a pair, in place of only; null for none.
   */
  jostle_test_of_sets only_of_sets;
} jostle_input;

/**
 * Pairs, lent by a finder until its next jostle_find or jostle_neighbors_find.
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
   * The two ids of each pair: within a set the lesser first; between sets, the id in the first set first. The order
   * of pairs is a function of the input alone.
   */
  const uint32_t (*pairs)[2];
  /**
   * When the bodies of each pair first touch, from 0 to 1; null unless the search has displacements. May be null
   * where there are no pairs.
   */
  const double *times_of_impact;
} jostle_pairs;

/**
 * Image shifts, lent by a finder until its next jostle_find_image_shifts. They are those of the list at that time.
 */
typedef struct jostle_image_shifts {
  /**
   * sizeof(jostle_image_shifts).
   */
  size_t size;
  /**
   * How many pairs have an image shift: all of them in a space that repeats, none in open space.
   */
  size_t count;
  /**
   * By how many vectors of the cell (or periods) the second body of each pair is moved to touch the first: one
   * number for each dimension.
   */
  const int32_t *shifts;
} jostle_image_shifts;

/**
 * A visitor, which is called for each pair with the pointer that the host has passed for it. Several threads call it
 * at once, unless the search runs on one thread. No exception may leave the visitor, and it must not use the handle
 * that calls it.
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
   * The ids of the two bodies, as in a list.
   */
  uint32_t pair[2];
  /**
   * By how many vectors of the cell (or periods) the second body is moved to touch the first. In two dimensions the
   * third number is 0.
   */
  int32_t image_shift[3];
  /**
   * Not used yet.
   */
  int32_t reserved;
  /**
   * When the bodies first touch, from 0 to 1; 0 unless the search has displacements.
   */
  double time_of_impact;
} jostle_hit;

/**
 * As jostle_visit, with all that is known of each pair.
 */
typedef void (*jostle_visit_hit)(void *user, const struct jostle_hit *hit);

/**
 * The neighbours of all bodies, lent by the lists until they are filled again. The neighbours of body i stand from
 * offsets[i] to before offsets[i + 1], in ascending order.
 */
typedef struct jostle_neighbors {
  /**
   * sizeof(jostle_neighbors).
   */
  size_t size;
  /**
   * How many rows: one for each body of the set or, between two sets, for each body of the first; among many, for
   * each body of all.
   */
  size_t rows;
  /**
   * How many neighbours in all.
   */
  size_t count;
  /**
   * Where each row begins: rows + 1 numbers, of which the last is count.
   */
  const size_t *offsets;
  /**
   * The ids of the neighbours, or their numbers among many sets (jostle_neighbors_find): count of them.
   */
  const uint32_t *ids;
  /**
   * The squared distance from the centre of the row's body to that of each neighbour; where one is a box or a
   * capsule, between the box or segment of the one and of the other. Like all columns below, null unless
   * jostle_lists_new was asked for it.
   */
  const float *distances2;
  /**
   * The same squared distances in double.
   */
  const double *distances2_double;
  /**
   * By how many vectors of the cell each neighbour is moved to where it touches: one number for each dimension.
   */
  const int32_t *image_shifts;
  /**
   * The vector from the body of the row to each neighbour: one number for each dimension.
   */
  const double *vectors;
} jostle_neighbors;

/**
 * Tells whether a body counts for a question, by its number in jostle_query.numbers: 0 if not. Called once or several
 * times for each body that the question may find, and by several threads at once where several questions are asked. No
 * exception may leave the test, and it must not use the handle that calls it.
 */
typedef int32_t (*jostle_query_test)(void *user, size_t question, uint32_t id);

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
   * Not used yet.
   */
  int32_t reserved;
  /**
   * How many questions.
   */
  size_t count;
  /**
   * The numbers of each question, question after question; jostle_question tells how many each takes.
   */
  const double *numbers;
  /**
   * How many bodies JOSTLE_QUESTION_NEAREST asks for; of no meaning to other questions.
   */
  size_t nearest;
  /**
   * How far away these bodies may be; infinity for any distance.
   */
  double reach;
  /**
   * Finds only the bodies that this test lets through (any but the one that asks, say); null for all.
   */
  jostle_query_test only;
  /**
   * The first argument of only, whatever it is.
   */
  void *only_user;
} jostle_query;

/**
 * Answers, lent until the next questions. The answers to question i stand from offsets[i] to before offsets[i + 1].
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
   * Where the answers to each question begin: questions + 1 numbers, of which the last is count.
   */
  const size_t *offsets;
  /**
   * The id of each body; ascending for a point, circle or box.
   */
  const uint32_t *ids;
  /**
   * By how many vectors of the cell each body is moved to where it is met: one number for each dimension.
   */
  const int32_t *image_shifts;
  /**
   * How far away each body is, for rays, first hits and nearest bodies; null for other questions.
   */
  const double *distances;
} jostle_answers;

/**
 * The keys of one set, by id: any numbers, each once.
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
 * The contacts of a frame that begin, or persist, or end; lent until the next update.
 */
typedef struct jostle_contact_list {
  /**
   * How many contacts.
   */
  size_t count;
  /**
   * The two keys of each contact: within a set the lesser key first, else the key of the body in the lesser set.
   */
  const uint64_t (*keys)[2];
  /**
   * The two ids of each contact. Contacts that end have their ids of the last frame.
   */
  const uint32_t (*pairs)[2];
  /**
   * The slot of each contact: a small number that no other contact has while this one lasts. The host can keep data
   * of the contact by it.
   */
  const uint32_t *slots;
  /**
   * The numbers of the two sets of each contact, if keys were given for JOSTLE_RELATION_AMONG; null otherwise, and
   * where there are no contacts.
   */
  const uint32_t (*sets)[2];
} jostle_contact_list;

/**
 * The changes since the last frame, lent by the tracker until its next update.
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
   * Contacts of both frames, in the order of the pairs of this frame.
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
   * The length of an array that has a place for each slot.
   */
  size_t slot_count;
} jostle_changes;

/**
 * The contact of each pair, lent by a finder until it is next asked for contact geometry. Number n of pair i stands at
 * [i * step + n], in float or in double, as was asked. The pointers of the other precision are null.
 */
typedef struct jostle_contact_geometry {
  /**
   * sizeof(jostle_contact_geometry).
   */
  size_t size;
  /**
   * How many contacts there are: one for each pair.
   */
  size_t count;
  /**
   * How many numbers lie from one contact to the next.
   */
  size_t step;
  /**
   * How deep the bodies overlap. Of circles and spheres: the sum of the radii less the distance of the centres, or 0
   * if this is below 0. Of two boxes: the shortest way along an axis that takes the second out of the first.
   */
  const float *depths;
  /**
   * The direction from the first body to the second, of length 1: one number for each dimension. Of circles and
   * spheres: from centre to centre, and (1, 0) or (1, 0, 0) where the centres coincide.
   */
  const float *normals;
  /**
   * The middle of what both bodies share: one number for each dimension. Of circles and spheres: the middle of that
   * part of the line through both centres which lies in both bodies; where they do not overlap, of the gap. Where
   * the centre or axis of another shape reaches into a box: half of the depth inside the border of the box, which
   * may lead through a thin box.
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
 * Returns the version of the library that runs, such as "0.1.0". JOSTLE_VERSION_MAJOR, _MINOR and _PATCH are those of
 * the header. The text lives for ever.
 */
const char *jostle_version(void);

/**
 * Returns one line on what a status means, known or unknown. The text lives for ever. jostle_last_error tells why a
 * certain call has failed.
 */
const char *jostle_status_text(int32_t status);

/**
 * Tells why the last failed call on a handle failed. The handle may be of any kind but jostle_threads. A call whose
 * handle was null, in use or of another kind has kept no error; jostle_status_text tells what is known of its status.
 */
jostle_status jostle_last_error(const void *handle,
                                struct jostle_error *error);

/**
 * Makes threads with which the calling thread does all the work itself.
 */
jostle_status jostle_threads_serial(struct jostle_threads **out);

/**
 * Starts a pool of count threads, from 1 to 1024. They are told to end when the last handle that uses them is freed;
 * nobody waits until they have ended, so do not unload the library at once.
 */
jostle_status jostle_threads_pool(size_t count,
                                  struct jostle_threads **out);

/**
 * Makes threads with which the host's own threads do the work. The struct is copied; what it leads to has to live
 * until the last handle that uses it is freed.
 */
jostle_status jostle_threads_host(const struct jostle_host *host,
                                  struct jostle_threads **out);

/**
 * Frees the handle. The threads stay as long as other handles use them. Null is allowed.
 */
void jostle_threads_free(struct jostle_threads *threads);

/**
 * Makes a finder in 2 dimensions, of circles, boxes and capsules, or in 3, of spheres, boxes and capsules.
 */
jostle_status jostle_finder_new(uint32_t dimensions, struct jostle_finder **out);

/**
 * Makes a finder of bodies that move little from frame to frame. It takes less time than a search from scratch in each
 * frame. jostle_find and jostle_neighbors_find give the answers of any finder, but for the order of pairs, which
 * depends on the frames given. Counts, visitors and jostle_still_valid get JOSTLE_STATUS_COMBINATION. Bodies with a
 * margin get it too, since the finder chooses a margin of its own. Boxes, capsules, and sets with displacements are
 * searched from scratch in each frame, with all that meet them. Make one finder for each input that is searched frame
 * by frame, and, where both pairs and rows are asked for, one for each.
 */
jostle_status jostle_finder_new_coherent(uint32_t dimensions,
                                         struct jostle_finder **out);

/**
 * Frees the finder, and all that it has lent. Null is allowed.
 */
void jostle_finder_free(struct jostle_finder *finder);

/**
 * Sets the threads of later searches; null for the global pool. The handle of the threads may be freed afterwards.
 */
jostle_status jostle_finder_set_threads(struct jostle_finder *finder,
                                        const struct jostle_threads *threads);

/**
 * Sets how many pairs a search may list, or neighbours in all rows together: SIZE_MAX at first. A search that finds
 * more counts them, takes no memory for them (at most twice as much as so many pairs take), and gets
 * JOSTLE_STATUS_TOO_MANY_PAIRS. So no scene, all bodies at one point, say, takes memory that the host has not foreseen.
 */
jostle_status jostle_finder_set_max_pairs(struct jostle_finder *finder,
                                          size_t pairs);

/**
 * Writes how many bytes the finder holds.
 */
jostle_status jostle_finder_bytes(struct jostle_finder *finder, size_t *out);

/**
 * Tells how often a finder of coherent frames has searched from scratch, and its margin. Other finders get
 * JOSTLE_STATUS_COMBINATION.
 */
jostle_status jostle_finder_frames(struct jostle_finder *finder, struct jostle_frames *out);

/**
 * Makes a finder of coherent frames search the next frame from scratch, whatever it has kept. Other finders get
 * JOSTLE_STATUS_COMBINATION.
 */
jostle_status jostle_finder_forget(struct jostle_finder *finder);

/**
 * Finds every overlapping pair. Two circles or spheres overlap when the distance of their centres is at most the sum
 * of their radii; jostle_shape tells of other shapes.
 */
jostle_status jostle_find(struct jostle_finder *finder,
                          const struct jostle_input *input,
                          struct jostle_pairs *out);

/**
 * Lends the pairs of sets i and j in the last list, a of the lesser of the two, whichever is named first. There are none
 * where the sets do not meet.
 */
jostle_status jostle_pairs_between(struct jostle_finder *finder,
                                   size_t i,
                                   size_t j,
                                   struct jostle_pairs *out);

/**
 * Lends the image shift of each pair of the last list. This call computes them.
 */
jostle_status jostle_find_image_shifts(struct jostle_finder *finder, struct jostle_image_shifts *out);

/**
 * Counts the overlapping pairs. No list is made.
 */
jostle_status jostle_count(struct jostle_finder *finder, const struct jostle_input *input, uint64_t *out);

/**
 * Calls visit(user, a, b) once for each overlapping pair, from the threads that find the pairs. No list is made. The
 * order is not fixed, except that a search on one thread keeps the order of the list. This is the fold of C: the sum
 * goes where user leads, by atomics or one sum for each thread. For a sum of floats that is the same on any threads,
 * visit on one thread, or sum over the list.
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
 * Tells whether lists that were made of bodies with a margin still hold all pairs of these bodies: writes 1 if so,
 * else 0. The bodies are given as they were searched, with the margin or without.
 */
jostle_status jostle_still_valid(struct jostle_finder *finder,
                                 const struct jostle_input *input,
                                 int32_t *out);

/**
 * Makes empty lists. columns is 0, or the sum of the columns that searches are to fill in beside the ids:
 * JOSTLE_LISTS_DISTANCES2 ...
 */
jostle_status jostle_lists_new(uint32_t columns, struct jostle_lists **out);

/**
 * Frees the lists, and all that they have lent. Null is allowed.
 */
void jostle_lists_free(struct jostle_lists *lists);

/**
 * Fills lists with the neighbours of each body; rows, a jostle_rows, says which of them. Between two sets, the rows of
 * the first set hold bodies of the second. Among many sets, the bodies of all have rows, and are numbered one set
 * after the other: body i of the second set has the number that is the length of the first, plus i. Distances of boxes
 * and capsules are those of their cores, without margins: boxes and segments. The finder keeps errors.
 */
jostle_status jostle_neighbors_find(struct jostle_finder *finder,
                                    const struct jostle_input *input,
                                    int32_t rows,
                                    struct jostle_lists *lists,
                                    struct jostle_neighbors *out);

/**
 * Makes an empty set in 2 or 3 dimensions.
 */
jostle_status jostle_prepared_new(uint32_t dimensions, struct jostle_prepared **out);

/**
 * Frees the set. Null is allowed.
 */
void jostle_prepared_free(struct jostle_prepared *prepared);

/**
 * Sets the threads that build the set; null for the global pool.
 */
jostle_status jostle_prepared_set_threads(struct jostle_prepared *prepared,
                                          const struct jostle_threads *threads);

/**
 * Copies bodies of any shape and sorts them for searches in a space (null for open space). Searches in another space
 * take the set too, and sort it anew. Bodies with layers or displacements are refused: give these to the set of each
 * search. If the bodies or the space are refused, the set is empty afterwards.
 */
jostle_status jostle_prepared_build(struct jostle_prepared *prepared,
                                    const struct jostle_set *set,
                                    const struct jostle_space *space);

/**
 * Makes memory for answers in 2 or 3 dimensions.
 */
jostle_status jostle_queries_new(uint32_t dimensions, struct jostle_queries **out);

/**
 * Frees the queries, and all that they have lent. Null is allowed.
 */
void jostle_queries_free(struct jostle_queries *queries);

/**
 * Sets the threads that answer several questions at once; null for the global pool. The calling thread answers a
 * single question.
 */
jostle_status jostle_queries_set_threads(struct jostle_queries *queries,
                                         const struct jostle_threads *threads);

/**
 * Answers one or many questions about the bodies of a prepared set and all their images. Answers are decided in
 * double.
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
 * Frees the tracker, and all that it has lent. Null is allowed.
 */
void jostle_contacts_free(struct jostle_contacts *contacts);

/**
 * Sets the threads of later updates; null for the global pool.
 */
jostle_status jostle_contacts_set_threads(struct jostle_contacts *contacts,
                                          const struct jostle_threads *threads);

/**
 * Compares the last list of a finder, image shifts included, with the list of the last update. relation is the
 * jostle_relation of the search; keys leads to set_count structs, the keys of each of its sets, one for each body.
 */
jostle_status jostle_contacts_update(struct jostle_contacts *contacts,
                                     struct jostle_finder *finder,
                                     int32_t relation,
                                     const struct jostle_keys *keys,
                                     size_t set_count,
                                     struct jostle_changes *out);

/**
 * As jostle_contacts_update, for pairs of the host's own, or some that a finder has lent: within one set, with the
 * lesser id of each pair first, or between two sets. pairs leads to two ids for each pair, such as found.pairs[0]. It
 * must not lead to what this tracker lends.
 */
jostle_status jostle_contacts_update_pairs(struct jostle_contacts *contacts,
                                           const uint32_t *pairs,
                                           size_t pair_count,
                                           int32_t relation,
                                           const struct jostle_keys *keys,
                                           size_t set_count,
                                           struct jostle_changes *out);

/**
 * Tells where and how deep the bodies of each pair of the last list overlap. input is the input that was searched;
 * number, a jostle_number, is the precision of the answer. Where space repeats, the second body is at the image that
 * the image shift says, and the point lies near the first body as it was given. For bodies that move, the contact is
 * that of the moment when they first touch. Margins count as parts of radii, and half of a cutoff as a radius. Of
 * capsules, the nearest points of the two axes count as centres; of a box and another shape, the nearest points.
 */
jostle_status jostle_find_contact_geometry(struct jostle_finder *finder,
                                           const struct jostle_input *input,
                                           int32_t number,
                                           struct jostle_contact_geometry *out);

/**
 * As jostle_find_contact_geometry, for pairs of the host's own in open space, such as some pairs of a list. pairs
 * leads to two ids for each pair, such as found.pairs[0]: in any order, and whether the bodies overlap or not.
 */
jostle_status jostle_contact_geometry_of(struct jostle_finder *finder,
                                         const uint32_t *pairs,
                                         size_t pair_count,
                                         const struct jostle_input *input,
                                         int32_t number,
                                         struct jostle_contact_geometry *out);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* JOSTLE_H */
