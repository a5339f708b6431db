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
