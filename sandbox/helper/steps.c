#include "steps.h"

#include "report.h"
#include <linux/fcntl.h>
#include <linux/mount.h>

struct step take_step(struct plan *records) {
  struct step step = {.kind = take_number(records)};
  step.place.create = take_number(records);
  step.place.has_identity = take_number(records) != 0;
  step.place.device = take_number(records);
  step.place.inode = take_number(records);
  step.slot = take_number(records);
  step.recursive = take_number(records) != 0;
  step.set = take_number(records);
  step.clear = take_number(records);
  step.place.path = take_text(records);
  return step;
}

static bool is_sound(const struct step *step, const struct steps *steps, bool is_expectation) {
  bool has_slot = step->kind == HOLD || step->kind == TAKE || step->kind == MOUNT_HELD || step->kind == MOUNT_TAKEN || step->kind == COVER;
  bool is_known = is_expectation ? step->kind == EXPECT_WRITABLE || step->kind == EXPECT_READ_ONLY : step->kind >= HOLD && step->kind <= COVER;
  return is_known && has_slot == (step->slot > 0) && step->slot <= steps->slot_count && step->place.create <= LAST_CREATE && step->place.path[0] == '/';
}

struct steps take_steps(struct plan *plan, bool are_expectations) {
  struct steps steps = {.shared_bytes = take_text(plan)};
  steps.shared_files = take_text(plan);
  steps.slot_count = take_count(plan);
  steps.count = take_count(plan);
  steps.records = *plan;
  /* All steps are looked at before the first one is carried out. */
  for (size_t index = 0; index < steps.count; index++) {
    struct step step = take_step(plan);
    if (!is_sound(&step, &steps, are_expectations)) plan->bad = true;
  }
  /* Slots are counted from 1; steps without one have 0. */
  if (!plan->bad) steps.slots = allocate((steps.slot_count + 1) * sizeof *steps.slots);
  for (size_t slot = 0; !plan->bad && slot <= steps.slot_count; slot++) steps.slots[slot] = -1;
  return steps;
}

/* The result of a step's call: ends the process if it is negative. */
static long succeed(const struct step *step, long result) {
  if (result < 0) fail_at("failed ", step->place.path, result);
  return result;
}

/* A copy of the entry and of all mounts below it, attached nowhere yet. */
static int copy_tree(const struct step *step, int entry) {
  return (int)succeed(step, CALL(open_tree, entry, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE));
}

static void set_option(const struct step *step, int context, const char *name, const char *value) {
  succeed(step, CALL(fsconfig, context, FSCONFIG_SET_STRING, name, value, 0));
}

/* A new, empty file system in memory (tmpfs(5)), attached nowhere yet. */
static int make_memory(const struct steps *steps, const struct step *step) {
  int context = (int)succeed(step, CALL(fsopen, "tmpfs", FSOPEN_CLOEXEC));
  set_option(step, context, "mode", step->kind == MOUNT_MEMORY ? "0755" : "1777");
  if (step->kind == MOUNT_SHARED_MEMORY) {
    set_option(step, context, "size", steps->shared_bytes);
    set_option(step, context, "nr_inodes", steps->shared_files);
  }
  succeed(step, CALL(fsconfig, context, FSCONFIG_CMD_CREATE, 0, 0, 0));
  int tree = (int)succeed(step, CALL(fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  CALL(close, context);
  return tree;
}

static void change_flags(const struct step *step, int mount) {
  struct mount_attr change = {.attr_set = step->set, .attr_clr = step->clear};
  /* Mounts that the host makes later must not appear in the file system of a running command. */
  if (step->recursive && is_same(step->place.path, "/")) change.propagation = 1 << 18; /* MS_PRIVATE */
  unsigned flags = AT_EMPTY_PATH | (step->recursive ? AT_RECURSIVE : 0);
  succeed(step, CALL(mount_setattr, mount, "", flags, &change, sizeof change));
}

static long set_layer(int context, const char *name, int directory, const char *inside) {
  char path[40] = "/proc/self/fd/";
  size_t length = length_of(path);
  length += write_decimal(path + length, (uint32_t)directory);
  memcpy(path + length, inside, length_of(inside) + 1);
  return CALL(fsconfig, context, FSCONFIG_SET_STRING, name, path, 0);
}

/*
 * An overlay over the directory `lower`, with `upper` and `work` in the directory `storage`. A negative result says why there can't be one. What is
 * written to one that `passes` need not survive a power cut: otherwise, the end of each command would wait until the disk has everything that anybody
 * has written to the file system of `storage`.
 */
static long make_overlay(int lower, int storage, bool passes) {
  if (passes) {
    /* The kernel's note that what is here may have been lost since the last such overlay. It isn't: the directory is of this run. */
    CALL(unlinkat, storage, "work/work/incompat/volatile/dirty", 0);
    CALL(unlinkat, storage, "work/work/incompat/volatile", AT_REMOVEDIR);
  }
  long context = CALL(fsopen, "overlay", FSOPEN_CLOEXEC);
  if (context < 0) return context;
  long error = set_layer((int)context, "lowerdir", lower, "");
  if (error == 0) error = set_layer((int)context, "upperdir", storage, "/upper");
  if (error == 0) error = set_layer((int)context, "workdir", storage, "/work");
  /* Other kinds of attributes need rights over the whole machine. */
  if (error == 0) error = CALL(fsconfig, context, FSCONFIG_SET_FLAG, "userxattr", 0, 0);
  /* The mount of the command before may not be gone yet. */
  if (error == 0) error = CALL(fsconfig, context, FSCONFIG_SET_STRING, "index", "off", 0);
  if (error == 0 && passes) error = CALL(fsconfig, context, FSCONFIG_SET_FLAG, "volatile", 0, 0);
  if (error == 0) error = CALL(fsconfig, context, FSCONFIG_CMD_CREATE, 0, 0, 0);
  long tree = error < 0 ? error : CALL(fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  CALL(close, context);
  return tree;
}

/*
 * Where no overlay can be stored, the directory is shown as it is, with the flags of the step: only a cache, whose layers pass with the run, can be. A
 * step without flags needs the overlay.
 */
static int cover(const struct step *step, int lower, int storage) {
  long overlay = make_overlay(lower, storage, step->set != 0);
  if (overlay >= 0 || step->set == 0) return (int)succeed(step, overlay);
  int tree = copy_tree(step, lower);
  change_flags(step, tree);
  return tree;
}

/* What a step mounts, attached nowhere yet. */
static int tree_for(const struct steps *steps, const struct step *step, int at) {
  switch (step->kind) {
    case MOUNT_ITSELF: return copy_tree(step, at);
    case MOUNT_HELD: return copy_tree(step, steps->slots[step->slot]);
    case MOUNT_TAKEN: return steps->slots[step->slot];
    case MOUNT_MEMORY:
    case MOUNT_SHARED_MEMORY: return make_memory(steps, step);
    default: return -1;
  }
}

static void carry_out(const struct steps *steps, const struct step *step, int at) {
  if (step->kind == HOLD) {
    steps->slots[step->slot] = at;
    return;
  }
  if (step->kind == TAKE) steps->slots[step->slot] = copy_tree(step, at);
  else if (step->kind == CHANGE) change_flags(step, at);
  else if (step->kind == COVER) {
    int lower = steps->slots[step->slot];
    steps->slots[step->slot] = cover(step, lower, at);
    CALL(close, lower);
  }
  else {
    int tree = tree_for(steps, step, at);
    /* The flags are set before the mount can be seen. It is put onto a descriptor, not onto a path that might lead elsewhere by now. */
    change_flags(step, tree);
    succeed(step, CALL(move_mount, tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
    CALL(close, tree);
    if (step->kind == MOUNT_TAKEN) steps->slots[step->slot] = -1;
  }
  CALL(close, at);
}

void make_mounts(struct steps *steps) {
  for (size_t index = 0; index < steps->count; index++) {
    struct step step = take_step(&steps->records);
    int at;
    long error;
    switch (walk_from_root(&step.place, &at, &error)) {
      case ARRIVED: carry_out(steps, &step, at); break;
      case SKIPPED: break;
      case GONE: fail_at("gone ", step.place.path, error);
      case CHANGED: fail_at("changed ", step.place.path, error < 0 ? error : -ESTALE);
      case FAILED: fail_at("failed ", step.place.path, error);
    }
  }
}
