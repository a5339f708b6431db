/* What C99 compiles without a warning, pedantic as it may be. */
#include <jostle.h>

#include <stdio.h>
#include <string.h>

int main(void) {
  uint32_t pairs[2][2] = {{0, 1}, {1, 2}};
  uint64_t names[3] = {9, 8, 7};
  float x[3] = {0, 1, 2}, radius = 1;
  char version[32];
  jostle_contacts *contacts = NULL;
  jostle_finder *finder = NULL;
  jostle_keys keys;
  jostle_changes changes;
  jostle_set set;
  jostle_input input;
  jostle_pairs found;
  jostle_contact_geometry geometry;

  memset(&keys, 0, sizeof keys);
  memset(&changes, 0, sizeof changes);
  memset(&set, 0, sizeof set);
  memset(&input, 0, sizeof input);
  memset(&found, 0, sizeof found);
  memset(&geometry, 0, sizeof geometry);
  keys.size = sizeof keys, keys.count = 3, keys.keys = names;
  changes.size = sizeof changes;
  set.size = sizeof set, set.count = 3, set.radius.data = &radius;
  set.center[0].data = set.center[1].data = x;
  set.center[0].stride = set.center[1].stride = sizeof x[0];
  input.size = sizeof input, input.sets = &set, input.set_count = 1;
  found.size = sizeof found;
  geometry.size = sizeof geometry;

  sprintf(version, "%d.%d.%d", JOSTLE_VERSION_MAJOR, JOSTLE_VERSION_MINOR, JOSTLE_VERSION_PATCH);
  if (strcmp(version, jostle_version()) != 0) return 1;
  if (jostle_contacts_new(&contacts) != JOSTLE_STATUS_OK) return 2;
  if (jostle_contacts_update_pairs(contacts, pairs[0], 2, JOSTLE_RELATION_WITHIN, &keys, 1, &changes)) return 3;
  if (changes.begin.count != 2 || changes.begin.keys[1][0] != 7) return 4;
  if (jostle_finder_new(2, &finder) != JOSTLE_STATUS_OK) return 5;
  if (jostle_find(finder, &input, &found) != JOSTLE_STATUS_OK || found.count != 2) return 6;
  if (jostle_contact_geometry_of(finder, found.pairs[1], 1, &input, JOSTLE_NUMBER_FLOAT, &geometry)) return 7;
  if (geometry.count != 1) return 8;
  jostle_contacts_free(contacts);
  jostle_finder_free(finder);
  return 0;
}
