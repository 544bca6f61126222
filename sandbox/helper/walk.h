/* Opens paths without ever following a symlink. */
#ifndef WALK_H
#define WALK_H

#include "plan.h"

/* What to do about a missing entry. Directories above the entry are created as well. */
enum create { CREATE_NONE = 0, CREATE_DIRECTORY = 1, CREATE_FILE = 2, SKIP_IF_MISSING = 3, LAST_CREATE = SKIP_IF_MISSING };

struct place {
  const char *path;
  uint64_t create;
  /* Identifies the planned entry regardless of its name. While an entry is held open, no other has the same two numbers. */
  bool has_identity;
  uint64_t device, inode;
};

enum arrival {
  ARRIVED,
  /* The entry is missing, and the place says to skip it then. */
  SKIPPED,
  GONE,
  /* The entry isn't the planned one, or the path leads through something other than a directory. */
  CHANGED,
  FAILED,
};

/*
 * Opens the entry at the place, starting from the directory `from`, which stays open. A symlink at its end is opened itself. `at` becomes the entry's
 * descriptor if it ARRIVED, and -1 if not; `error` becomes the negated error number of the call that failed.
 */
enum arrival walk(const struct place *place, int from, int *at, long *error);

/* The same from `/`. */
enum arrival walk_from_root(const struct place *place, int *at, long *error);

#endif
