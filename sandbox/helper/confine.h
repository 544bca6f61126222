/* What a command can never undo: the system call filter and the second fence around files. */
#ifndef CONFINE_H
#define CONFINE_H

#include "plan.h"

/*
 * The second fence (landlock(7)): directories and files outside of which the kernel refuses the handled kinds of access, whatever is mounted there.
 *
 *   fence := number(handled accesses to files) number(scopes) list(root)
 *   root := text(path) number(allowed accesses) number(has identity) number(device) number(inode)
 *
 * Accesses and scopes are bits as in linux/landlock.h. With neither, there is no fence.
 */
struct fence {
  uint64_t handled, scoped;
  struct plan roots;
  size_t count;
};

struct fence take_fence(struct plan *plan);

/*
 * Puts the fence around this process and everything that it starts. What the kernel doesn't know yet is left out; without Landlock in the kernel,
 * there is no fence. Roots that don't exist are skipped: nothing can be written there. Returns the version of the kernel's interface, 0 if there is no
 * fence, or a negated error number, with `culprit` the root that caused it, or "".
 */
long put_up(const struct fence *fence, const char **culprit);

/* Installs a system call filter (seccomp(2)): an array of `struct sock_filter`. Returns 0 or a negated error number. */
long apply_filter(const unsigned char *filter, size_t bytes);

/* Installs the filter that is in a file. */
long apply_filter_from(const char *path);

#endif
