#include "confine.h"

#include "walk.h"
#include <asm/stat.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/stat.h>

/* linux/landlock.h of the newest kernels; the structure of older headers is shorter. */
struct ruleset {
  uint64_t handled_access_fs, handled_access_net, scoped;
};

/* What each version of the kernel's interface can handle. Version 1 isn't used: it would refuse to move files between any two directories. */
enum { FIRST_USEFUL = 2, KNOWS_TRUNCATE = 3, KNOWS_DEVICE_CALLS = 5, KNOWS_SCOPES = 6 };

static uint64_t handled_by(long version) {
  if (version >= KNOWS_DEVICE_CALLS) return (1 << 16) - 1;
  if (version >= KNOWS_TRUNCATE) return (1 << 15) - 1;
  return (1 << 14) - 1;
}

/* The accesses that make sense for a file that isn't a directory (EXECUTE, WRITE_FILE, READ_FILE, TRUNCATE, IOCTL_DEV); the kernel refuses others. */
enum { OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15 };

/* What follows the path of a root: accesses, whether it has an identity, device, inode. */
enum { NUMBERS_OF_ROOT = 4 };

struct fence take_fence(struct plan *plan) {
  struct fence fence = {.handled = take_number(plan)};
  fence.scoped = take_number(plan);
  fence.count = take_count(plan);
  fence.roots = *plan;
  for (size_t index = 0; index < fence.count; index++) {
    if (take_text(plan)[0] != '/') plan->bad = true;
    for (int number = 0; number < NUMBERS_OF_ROOT; number++) take_number(plan);
  }
  return fence;
}

/* Allows the accesses below an open root. */
static long allow(int rules, int root, uint64_t accesses) {
  struct stat found;
  long error = CALL(newfstatat, root, "", &found, AT_EMPTY_PATH);
  if (error < 0) return error;
  struct landlock_path_beneath_attr rule = {.allowed_access = S_ISDIR(found.st_mode) ? accesses : accesses & OF_FILES, .parent_fd = root};
  /* A rule that allows nothing is an error. */
  return rule.allowed_access == 0 ? 0 : CALL(landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/*
 * Allows the command to open its standard output and error again (/dev/stderr): bubblewrap's commands have named pipes for them. The kernel accepts no
 * rule for a pipe without a name, and needs none.
 */
static void allow_output(int rules, uint64_t accesses) {
  for (int output = 1; output <= 2; output++) {
    struct stat found;
    if (CALL(newfstatat, output, "", &found, AT_EMPTY_PATH) >= 0 && !S_ISDIR(found.st_mode)) allow(rules, output, accesses & LANDLOCK_ACCESS_FS_WRITE_FILE);
  }
}

long put_up(const struct fence *fence, const char **culprit) {
  *culprit = "";
  if (fence->handled == 0 && fence->scoped == 0) return 0;
  long version = CALL(landlock_create_ruleset, 0, 0, LANDLOCK_CREATE_RULESET_VERSION);
  /* The kernel has no Landlock, or it is switched off, or another sandbox around this one forbids to ask. */
  if (version == -ENOSYS || version == -EOPNOTSUPP || version == -EPERM) return 0;
  if (version < 0) return version;
  if (version < FIRST_USEFUL) return 0;
  struct ruleset wanted = {
    .handled_access_fs = fence->handled & handled_by(version),
    .scoped = version >= KNOWS_SCOPES ? fence->scoped : 0,
  };
  if (wanted.handled_access_fs == 0 && wanted.scoped == 0) return 0;
  /* Older kernels accept the longer structure as long as the part that they don't know is zero. */
  long rules = CALL(landlock_create_ruleset, &wanted, sizeof wanted, 0);
  if (rules < 0) return rules;
  struct plan roots = fence->roots;
  for (size_t index = 0; index < fence->count; index++) {
    struct place place = {.path = take_text(&roots), .create = SKIP_IF_MISSING};
    uint64_t accesses = take_number(&roots) & wanted.handled_access_fs;
    place.has_identity = take_number(&roots) != 0;
    place.device = take_number(&roots);
    place.inode = take_number(&roots);
    int root;
    long error;
    enum arrival arrival = walk_from_root(&place, &root, &error);
    if (arrival == SKIPPED) continue;
    if (arrival == ARRIVED) error = allow((int)rules, root, accesses);
    if (root >= 0) CALL(close, root);
    if (arrival == ARRIVED && error >= 0) continue;
    *culprit = place.path;
    return error < 0 ? error : -ESTALE;
  }
  allow_output((int)rules, wanted.handled_access_fs);
  /* Without privileges, only a process that can't gain any may confine itself. */
  long error = error_in(CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  if (error == 0) error = error_in(CALL(landlock_restrict_self, rules, 0));
  CALL(close, rules);
  return error < 0 ? error : version;
}

long apply_filter(const unsigned char *filter, size_t bytes) {
  size_t each = sizeof(struct sock_filter);
  /* The kernel reads the filter from any address, so it needn't be aligned. */
  struct sock_fprog program = {.len = (unsigned short)(bytes / each), .filter = (struct sock_filter *)(uintptr_t)filter};
  if (bytes == 0 || bytes % each != 0 || bytes / each > BPF_MAXINSNS) return -EINVAL;
  long error = error_in(CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  return error < 0 ? error : error_in(CALL(seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}
