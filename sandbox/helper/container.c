/* What runs first in containers. Its file can be executed but not read there, so that no process without privileges can inspect one that runs it. */
#include "helper.h"

#include "confine.h"
#include "steps.h"
#include <asm/signal.h>
#include <asm/statfs.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/stat.h>

enum { IS_READ_ONLY = 1 /* ST_RDONLY of statvfs(3) */ };

long apply_filter_from(const char *path) {
  enum { MOST = BPF_MAXINSNS * sizeof(struct sock_filter) };
  static unsigned char filter[MOST + 1];
  int file = open_or_leave(path);
  long bytes = read_fully(file, filter, sizeof filter);
  CALL(close, file);
  return bytes < 0 ? bytes : apply_filter(filter, (size_t)bytes);
}

_Noreturn void filter(char **words, char **environment) {
  if (words[0] == NULL || apply_filter_from(words[0]) < 0) leave(CANNOT_RUN);
  become(words + 1, environment);
}

/* Whether the open entry is the root of a mount, which is read-only if and only if it was planned so. */
static enum arrival examine(const struct step *step, int at) {
  struct statx entry;
  struct statfs mount;
  if (CALL(statx, at, "", AT_EMPTY_PATH, 0, &entry) < 0) return FAILED;
  if ((entry.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0) return CHANGED;
  if (CALL(fstatfs, at, &mount) < 0) return FAILED;
  return ((mount.f_flags & IS_READ_ONLY) != 0) == (step->kind == EXPECT_READ_ONLY) ? ARRIVED : CHANGED;
}

static _Noreturn void complain(const char *mark, const char *path) {
  write_all(2, mark, length_of(mark));
  write_all(2, path, length_of(path));
  write_all(2, "\n", 1);
  leave(CANNOT_RUN);
}

/*
 * Checks that the mounts that somebody else has made for a container are those that were planned, and puts up the fence.
 *
 * check := steps, all of a kind EXPECT_... fence
 */
_Noreturn void check(char **words, char **environment) {
  struct plan plan;
  const char *mark = words[0] == NULL ? NULL : words[1];
  if (mark == NULL) leave(CANNOT_RUN);
  int file = open_or_leave(words[0]);
  if (read_plan(&plan, file) < 0) leave(CANNOT_RUN);
  CALL(close, file);
  struct steps steps = take_steps(&plan, true);
  struct fence fence = take_fence(&plan);
  if (!is_complete(&plan)) leave(CANNOT_RUN);
  for (size_t index = 0; index < steps.count; index++) {
    struct step step = take_step(&steps.records);
    int at;
    long error;
    enum arrival arrival = walk_from_root(&step.place, &at, &error);
    if (arrival == ARRIVED) arrival = examine(&step, at);
    if (arrival != ARRIVED) complain(mark, step.place.path);
    CALL(close, at);
  }
  const char *root;
  if (put_up(&fence, &root) < 0) complain(mark, root);
  become(words + 2, environment);
}

_Noreturn void try_fence(char **words, char **environment) {
  (void)words, (void)environment;
  const char *root;
  char line[MOST_DIGITS + 1];
  /* No root is left to write to, which doesn't concern standard output: it is already open. */
  const struct fence nowhere = {.handled = LANDLOCK_ACCESS_FS_WRITE_FILE};
  long version = put_up(&nowhere, &root);
  if (version < 0) leave(CANNOT_RUN);
  size_t length = write_decimal(line, (uint32_t)version);
  line[length++] = '\n';
  leave(write_all(1, line, length) < 0 ? CANNOT_RUN : 0);
}

/* Waits until its input ends, and with it the container. Meanwhile the kernel reaps orphaned processes, because this one ignores SIGCHLD. */
_Noreturn void init(char **words, char **environment) {
  (void)words, (void)environment;
  char buffer[64];
  set_signal(SIGCHLD, 1);
  long count;
  do count = CALL(read, 0, buffer, sizeof buffer);
  while (count > 0 || count == -EINTR);
  leave(0);
}
