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
 * What holds for all functions:
 * - Clear each struct that begins with a size, and write sizeof the struct there: later versions add fields at the
 *   end. jostle_column, jostle_offender and jostle_contact_list have no size and stay as they are. The library makes
 *   jostle_hit.
 * - A pointer is null where that is allowed, or leads to what its description says for as long as the call lasts.
 *   Null elsewhere, misaligned structs, and sizes, choices and strides that make no sense get a code. Input is read in
 *   place, and never written.
 * - What a handle lends (pairs, lists, messages) lives until the next call on that handle but jostle_last_error, or
 *   until the handle is freed. A call that fails changes nothing: what was lent before stays, but for the message.
 *   Only a jostle_prepared is empty after a build that fails for its bodies or its space.
 * - A handle serves one call at a time; a second call gets JOSTLE_STATUS_BUSY. Give each thread handles of its own.
 *   Threads may share jostle_threads, and ask one jostle_prepared. Do not free a handle while a call uses it, and do
 *   not use it afterwards.
 * - Nothing unwinds out of a call, and nothing may unwind into one: visitors, tests and run of jostle_host let no
 *   exception out. When memory runs out, the program is aborted.
 *
 * Generated from the source by cbindgen: `JOSTLE_WRITE_HEADER=1 cargo test -p jostle-c header`.
 */
