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
