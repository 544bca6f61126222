#include "helper.h"

#include "confine.h"
#include "report.h"
#include "steps.h"
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/fcntl.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sched.h>

/*
 * start := list(number(a descriptor above 2 that stays open), ascending)
 *          text(map of user ids) text(map of group ids) text(limit of inotify instances) text(limit of inotify watches)
 *          text(the first port that needs no rights)
 *          number(whether standard input is the null device) text(working directory) list(text(variable)) steps fence
 *          number(the version of the fence that the engine counts on; 0: none) bytes(filter)
 *
 * The two limits are empty if there is none, and the port if it stays as it is.
 */
struct start {
  struct plan kept;
  size_t kept_count;
  const char *user_map, *group_map, *instances, *watches, *first_port, *directory;
  bool null_input;
  const char **variables;
  struct steps steps;
  struct fence fence;
  uint64_t fence_version;
  const unsigned char *filter;
  size_t filter_bytes;
};

static struct start take_start(struct plan *plan) {
  struct start start = {.kept_count = take_count(plan)};
  start.kept = *plan;
  for (size_t index = 0; index < start.kept_count; index++) take_number(plan);
  start.user_map = take_text(plan);
  start.group_map = take_text(plan);
  start.instances = take_text(plan);
  start.watches = take_text(plan);
  start.first_port = take_text(plan);
  start.null_input = take_number(plan) != 0;
  start.directory = take_text(plan);
  size_t count = take_count(plan);
  start.variables = allocate((count + 1) * sizeof *start.variables);
  for (size_t index = 0; index < count; index++) start.variables[index] = take_text(plan);
  start.steps = take_steps(plan, false);
  start.fence = take_fence(plan);
  start.fence_version = take_number(plan);
  start.filter = take_bytes(plan, &start.filter_bytes);
  return start;
}

/*
 * Opens a copy of the sandbox's own /proc in which no mount covers anything. The copy stays open and writable while the /proc that commands see
 * becomes read-only.
 */
static int open_processes(void) {
  int directory = (int)need(CALL(openat, AT_FDCWD, "/proc", O_PATH | O_CLOEXEC));
  int processes = (int)need(CALL(open_tree, directory, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
  CALL(close, directory);
  return processes;
}

static void write_setting(int processes, const char *name, const char *text) {
  int file = (int)need(CALL(openat, processes, name, O_WRONLY | O_CLOEXEC));
  need(write_all(file, text, length_of(text)));
  CALL(close, file);
}

/* Sets the inotify limits of the user namespace in which this program is root. Namespaces below count toward them (namespaces(7)). */
static void limit_watches(const struct start *start, int processes) {
  if (start->instances[0] != 0) write_setting(processes, "sys/user/max_inotify_instances", start->instances);
  if (start->watches[0] != 0) write_setting(processes, "sys/user/max_inotify_watches", start->watches);
}

/* Lets commands open the low ports of the network namespace too, which belongs to the user namespace in which this program is root. */
static void open_ports(const struct start *start, int processes) {
  if (start->first_port[0] != 0) write_setting(processes, "sys/net/ipv4/ip_unprivileged_port_start", start->first_port);
}

/*
 * Makes the sandbox's null device standard input. bwrap's own isn't used, because that is in one of the host's mounts, where its owner could change
 * its mode.
 */
static void open_null_input(void) {
  int device = (int)need(CALL(openat, AT_FDCWD, "/dev/null", O_RDONLY));
  need(CALL(dup3, device, 0, 0));
  CALL(close, device);
}

/*
 * Enters a user namespace in which this process has an ordinary user id and no capabilities. That namespace owns no mounts, so no mount can be changed
 * from it.
 */
static void leave_root(const struct start *start, int processes) {
  need(CALL(unshare, CLONE_NEWUSER));
  /* Without this, the kernel doesn't let an unprivileged process set the map of groups (user_namespaces(7)). */
  write_setting(processes, "self/setgroups", "deny");
  write_setting(processes, "self/uid_map", start->user_map);
  write_setting(processes, "self/gid_map", start->group_map);
  /* The bounding set limits what a program can gain by being executed. After the last capability, the call fails with EINVAL. */
  long dropped = 0;
  for (int capability = 0; dropped >= 0; capability++) dropped = CALL(prctl, PR_CAPBSET_DROP, capability, 0, 0, 0);
  if (dropped != -EINVAL) need(dropped);
  struct __user_cap_header_struct own = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
  need(CALL(capset, &own, none));
}

/* Closes everything above 2 that the engine, bwrap or this program have left open, except what the plan keeps and the report. */
static void close_others(struct plan kept, size_t count, int report) {
  uint64_t first = 3;
  for (size_t index = 0; index <= count; index++) {
    uint64_t next = index < count ? take_number(&kept) : ~0U;
    if (first <= (uint64_t)report && (uint64_t)report < next) {
      if (first < (uint64_t)report) need(CALL(close_range, first, report - 1, 0));
      first = (uint64_t)report + 1;
    }
    uint64_t last = index < count ? next - 1 : ~0U;
    if (first <= last && last <= ~0U) need(CALL(close_range, first, last, 0));
    first = next + 1;
  }
  /* The command's own program must not get the report. */
  need(CALL(close_range, report, report, CLOSE_RANGE_CLOEXEC));
}

/* The plan's first descriptors are in ascending order and above 2. */
static bool are_descriptors(struct plan kept, size_t count, int report) {
  uint64_t before = 2;
  for (size_t index = 0; index < count; index++) {
    uint64_t next = take_number(&kept);
    if (next <= before || next > INT32_MAX || next == (uint64_t)report) return false;
    before = next;
  }
  return true;
}

/*
 * Waits for the engine's go-ahead. If the engine has died, the read returns end of file instead. By the time of the ready mark, the kernel has been
 * told to kill bwrap when the engine dies, and the sandbox when bwrap dies; so if the engine was killed earlier, nobody answers and nothing starts.
 */
static void await_go_ahead(int report) {
  char answer;
  if (CALL(read, report, &answer, 1) != 1) leave(CANNOT_RUN);
}

_Noreturn void start(char **words, char **environment) {
  (void)environment;
  if (words[0] == NULL || words[1] == NULL || words[2] == NULL) leave(CANNOT_RUN);
  long plan_from = take_argument(words[0], INT32_MAX), report = take_argument(words[1], INT32_MAX);
  struct plan plan;
  if (plan_from < 3 || report < 3) leave(CANNOT_RUN);
  report_to((int)report);
  need(read_plan(&plan, (int)plan_from));
  CALL(close, plan_from);
  struct start start = take_start(&plan);
  if (!is_complete(&plan) || !are_descriptors(start.kept, start.kept_count, (int)report)) need(-EBADMSG);
  /* The ready mark is sent this early so that the engine can answer while the mounts are made. */
  need(write_all((int)report, "!", 1));
  int processes = open_processes();
  limit_watches(&start, processes);
  open_ports(&start, processes);
  make_mounts(&start.steps);
  if (start.null_input) open_null_input();
  leave_root(&start, processes);
  close_others(start.kept, start.kept_count, (int)report);
  long error = CALL(chdir, start.directory);
  if (error < 0) fail_at("directory ", "", error);
  const char *root;
  long version = put_up(&start.fence, &root);
  if (version < 0) fail_at("fence ", root, version);
  /* The engine says in its records which fence commands are behind, and knows that from an earlier trial. */
  if ((uint64_t)version < start.fence_version) fail_at("fence ", "", -EOPNOTSUPP);
  await_go_ahead((int)report);
  need(apply_filter(start.filter, start.filter_bytes));
  error = CALL(execve, words[2], words + 2, start.variables);
  fail_at("program ", "", error);
}
