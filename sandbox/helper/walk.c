#include "walk.h"

#include <asm/stat.h>
#include <linux/fcntl.h>
#include <linux/openat2.h>

/* O_PATH: an entry is opened only to be identified, so neither its permissions matter nor is a device or a FIFO touched. */
enum { NAME_BYTES = 256, ONLY_PATH = O_PATH | O_NOFOLLOW | O_CLOEXEC, MOST_TRIES = 64 };

/*
 * Copies the path's next component, and moves `rest` behind it. Returns false at the end of the path, and for components that can't be looked up
 * (`error` is set then): too long ones, and `.` and `..`, which no planned path has.
 */
static bool next_name(const char **rest, char name[NAME_BYTES], long *error) {
  size_t length = 0;
  while (**rest == '/') (*rest)++;
  for (; **rest != 0 && **rest != '/'; (*rest)++) {
    if (length == NAME_BYTES - 1) {
      *error = -ENAMETOOLONG;
      return false;
    }
    name[length++] = **rest;
  }
  name[length] = 0;
  if (is_same(name, ".") || is_same(name, "..")) *error = -EINVAL;
  while (**rest == '/') (*rest)++;
  return length > 0 && *error == 0;
}

/* Creates a missing component. Somebody else may be creating the same one, so it is opened afterwards in either case. */
static long create(int directory, const char *name, bool as_file) {
  if (!as_file) return CALL(mkdirat, directory, name, 0755);
  long file = CALL(openat, directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
  if (file >= 0) CALL(close, file);
  return file;
}

/* Whether the open entry is the planned one. */
static enum arrival identify(const struct place *place, int at, long *error) {
  struct stat found;
  if (!place->has_identity) return ARRIVED;
  *error = CALL(newfstatat, at, "", &found, AT_EMPTY_PATH);
  if (*error < 0) return FAILED;
  return found.st_dev == place->device && found.st_ino == place->inode ? ARRIVED : CHANGED;
}

static enum arrival open_next(const struct place *place, int directory, const char *name, bool is_last, int *next, long *error) {
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    *error = CALL(openat, directory, name, ONLY_PATH);
    if (*error >= 0) {
      *next = (int)*error;
      return ARRIVED;
    }
    /* A component above has become a symlink or a file since the plan was made. */
    if (*error == -ENOTDIR) return CHANGED;
    /*
     * For example EACCES: the path leads through another user's private directory. The plan may have been made by root, which has more rights. Or EMFILE:
     * the plan holds more entries than this process may open.
     */
    if (*error != -ENOENT) return FAILED;
    if (place->create == CREATE_NONE) return GONE;
    if (place->create == SKIP_IF_MISSING) return SKIPPED;
    *error = create(directory, name, is_last && place->create == CREATE_FILE);
    if (*error < 0 && *error != -EEXIST) return FAILED;
  }
  return CHANGED;
}

/* Whether each component can be looked up (see next_name). */
static bool is_walkable(const char *path) {
  char name[NAME_BYTES];
  long error = 0;
  while (next_name(&path, name, &error)) {}
  return error == 0;
}

/* Opens the whole path with one call. It fails at a symlink, as opening it component by component does; what the failure means, only that tells. */
static long open_at_once(const char *path) {
  struct open_how how = {.flags = ONLY_PATH, .resolve = RESOLVE_NO_SYMLINKS};
  return is_walkable(path) ? CALL(openat2, AT_FDCWD, path, &how, sizeof how) : -EINVAL;
}

enum arrival walk(const struct place *place, int from, int *at, long *error) {
  char name[NAME_BYTES];
  const char *rest = place->path;
  int directory = from;
  enum arrival arrival = ARRIVED;
  *error = 0;
  *at = -1;
  while (arrival == ARRIVED && next_name(&rest, name, error)) {
    int next = -1;
    arrival = open_next(place, directory, name, *rest == 0, &next, error);
    if (directory != from) CALL(close, directory);
    directory = next;
    if (arrival == ARRIVED) *error = 0;
  }
  if (arrival == ARRIVED && *error < 0) arrival = FAILED;
  if (arrival == ARRIVED && directory == from) {
    /* An empty path, or `/`: the directory itself. The caller gets a descriptor of its own. */
    directory = (int)CALL(fcntl, from, F_DUPFD_CLOEXEC, 0);
    if (directory < 0) {
      *error = directory;
      return FAILED;
    }
  }
  if (arrival == ARRIVED) arrival = identify(place, directory, error);
  if (arrival == ARRIVED) *at = directory;
  else if (directory >= 0 && directory != from) CALL(close, directory);
  return arrival;
}

enum arrival walk_from_root(const struct place *place, int *at, long *error) {
  *at = -1;
  /* Most entries are where they were planned. The call also fails where another sandbox around this one forbids it. */
  long opened = open_at_once(place->path);
  *error = 0;
  if (opened >= 0) {
    enum arrival found = identify(place, (int)opened, error);
    if (found == ARRIVED) *at = (int)opened;
    else CALL(close, opened);
    return found;
  }
  *error = CALL(openat, AT_FDCWD, "/", ONLY_PATH);
  if (*error < 0) return FAILED;
  int root = (int)*error;
  enum arrival arrival = walk(place, root, at, error);
  CALL(close, root);
  return arrival;
}
