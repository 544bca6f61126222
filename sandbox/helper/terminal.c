/*
 * Runs a command in a pseudo-terminal of its own. Until the command has ended, copies standard input to the terminal and the terminal's output to
 * standard output; then ends in the same way as the command. Each message on the control descriptor is a size (`struct winsize`); the first one is
 * awaited before the terminal is made.
 *
 * Node can't make terminals, and one from a sandbox's own /dev has to be made inside the sandbox.
 */
#include "helper.h"

#include <asm/ioctls.h>
#include <asm/poll.h>
#include <asm/signal.h>
#include <asm/termios.h>
#include <linux/fcntl.h>
#include <linux/signalfd.h>
#include <linux/time_types.h>
#include <linux/wait.h>

enum {
  /* The exit code if there is no terminal or no command, as of sh. */
  CANNOT_EXECUTE = 126,
  /* What a pipe that is ready always takes in one call (PIPE_BUF). */
  BUFFER = 4096,
  /* How many buffers of output to read after the command has ended. No terminal holds that much, but background processes may print forever. */
  LAST_BUFFERS = 32,
  /* How many seconds to wait for a reader of the output once SIGTERM has come and the command has ended. */
  LAST_WAIT = 1,
};

/* Bytes on their way. `left` of them, from `next` on, have yet to be written. */
struct flow {
  char bytes[BUFFER];
  char *next;
  size_t left;
};

static struct {
  int control, master, slave, signals;
  long child;
  bool has_keyboard, has_control, is_ending;
  struct flow typed, shown;
} terminal_state;
#define own terminal_state

static long need_terminal(long result) {
  if (result < 0) leave(CANNOT_EXECUTE);
  return result;
}

static void fill(struct flow *flow, int descriptor) {
  long count = CALL(read, descriptor, flow->bytes, BUFFER);
  flow->next = flow->bytes;
  flow->left = count > 0 ? (size_t)count : 0;
}

/* Writes once, which never blocks if the descriptor is ready. Returns false if that failed, and not only because the descriptor isn't ready. */
static bool drain(struct flow *flow, int descriptor) {
  long count = CALL(write, descriptor, flow->next, flow->left);
  if (count == -EAGAIN) return true;
  if (count < 0) return false;
  flow->next += count;
  flow->left -= (size_t)count;
  return true;
}

static void open_terminal(void) {
  struct winsize size;
  int unlocked = 0;
  if (CALL(read, own.control, &size, sizeof size) != sizeof size) leave(CANNOT_EXECUTE);
  own.master = (int)need_terminal(CALL(openat, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  need_terminal(CALL(ioctl, own.master, TIOCSPTLCK, &unlocked));
  /*
   * The other end is opened through the descriptor, because there may be no path to it inside a sandbox. It stays open here: the terminal would
   * otherwise seem to have ended whenever no process has it open.
   */
  own.slave = (int)need_terminal(CALL(ioctl, own.master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  need_terminal(CALL(ioctl, own.master, TIOCSWINSZ, &size));
}

/* Becomes the leader of a session with this controlling terminal, and then the command. */
static _Noreturn void be_command(char **words, char **environment) {
  uint64_t none = 0;
  need_terminal(CALL(setsid, 0));
  need_terminal(CALL(ioctl, own.slave, TIOCSCTTY, 0));
  for (int descriptor = 0; descriptor <= 2; descriptor++) need_terminal(CALL(dup3, own.slave, descriptor, 0));
  CALL(close, own.control);
  need_terminal(CALL(rt_sigprocmask, SIG_SETMASK, &none, 0, sizeof none));
  CALL(execve, words[0], words, environment);
  leave(CANNOT_EXECUTE);
}

static void start_command(char **words, char **environment) {
  /* These two arrive through a descriptor, so that one call can wait for everything. */
  uint64_t awaited = 1UL << (SIGTERM - 1) | 1UL << (SIGCHLD - 1);
  need_terminal(CALL(rt_sigprocmask, SIG_BLOCK, &awaited, 0, sizeof awaited));
  own.signals = (int)need_terminal(CALL(signalfd4, -1, &awaited, sizeof awaited, O_CLOEXEC));
  /* If the starter ignored it, the kernel would reap the command, and nobody would learn how it ended. */
  set_signal(SIGCHLD, 0);
  own.child = need_terminal(CALL(clone, SIGCHLD, 0, 0, 0, 0));
  if (own.child == 0) be_command(words, environment);
  /* Writing what nobody reads fails, instead of ending this process and with it the terminal. */
  set_signal(SIGPIPE, 1);
}

/*
 * Writes what was read of the output, after the command has ended. Returns false if nobody reads it any more, or if SIGTERM comes or has come and
 * nobody reads it now.
 */
static bool show_all(void) {
  while (own.shown.left > 0) {
    /* Standard output may be one that never blocks, if somebody else has made it so. */
    struct pollfd waiting[] = {{.fd = 1, .events = POLLOUT}, {.fd = own.signals, .events = POLLIN}};
    struct __kernel_timespec left = {.tv_sec = LAST_WAIT};
    long ready = CALL(ppoll, waiting, 2, own.is_ending ? &left : 0, 0, sizeof(uint64_t));
    if (waiting[0].revents == 0 && (ready == 0 || waiting[1].revents != 0)) return false;
    if (!drain(&own.shown, 1)) return false;
  }
  return true;
}

/* Copies the rest of the command's output, and ends in the same way as the command. */
static _Noreturn void finish(int status) {
  bool is_read = show_all();
  for (int rounds = 0; rounds < LAST_BUFFERS && is_read; rounds++) {
    fill(&own.shown, own.master);
    if (own.shown.left == 0) break;
    is_read = show_all();
  }
  int signal = status & 0x7f;
  if (signal == 0) leave(status >> 8 & 0xff);
  uint64_t none = 0;
  set_signal(SIGPIPE, 0);
  CALL(rt_sigprocmask, SIG_SETMASK, &none, 0, sizeof none);
  CALL(kill, CALL(getpid, 0), signal);
  /* The signal isn't one that kills this process. */
  leave(128 + signal);
}

static void resize(void) {
  struct winsize size;
  if (CALL(read, own.control, &size, sizeof size) == sizeof size) CALL(ioctl, own.master, TIOCSWINSZ, &size);
  else own.has_control = false;
}

/*
 * Passes SIGTERM on to the foreground process group and to the command, because both are in a session that the sender's signals don't reach. Ends
 * this process if the command has ended.
 */
static void hear_signal(void) {
  struct signalfd_siginfo signal;
  if (CALL(read, own.signals, &signal, sizeof signal) != sizeof signal) return;
  if (signal.ssi_signo != SIGTERM) {
    int status = 0;
    if (CALL(wait4, own.child, &status, WNOHANG, 0) == own.child) finish(status);
    return;
  }
  own.is_ending = true;
  int foreground = 0;
  CALL(ioctl, own.master, TIOCGPGRP, &foreground);
  if (foreground > 0 && foreground != own.child) CALL(kill, -foreground, SIGTERM);
  /* The command's process may not have its group yet. The signal then waits for it, because it is blocked there until the command starts. */
  if (CALL(kill, -own.child, SIGTERM) < 0) CALL(kill, own.child, SIGTERM);
}

/* Waits until there is something to do, and does it. Nothing is read while what was read before hasn't been written. */
static void copy_once(void) {
  enum { KEYBOARD, CONTROL, MASTER, SCREEN, SIGNALS, COUNT };
  bool is_typing = own.typed.left > 0, is_showing = own.shown.left > 0;
  /* A negative descriptor is not waited for. */
  struct pollfd waiting[COUNT] = {
    [KEYBOARD] = {.fd = own.has_keyboard && !is_typing ? 0 : -1, .events = POLLIN},
    [CONTROL] = {.fd = own.has_control ? own.control : -1, .events = POLLIN},
    [MASTER] = {.fd = own.master, .events = (short)((is_typing ? POLLOUT : 0) | (is_showing ? 0 : POLLIN))},
    [SCREEN] = {.fd = is_showing ? 1 : -1, .events = POLLOUT},
    [SIGNALS] = {.fd = own.signals, .events = POLLIN},
  };
  if (CALL(ppoll, waiting, COUNT, 0, 0, sizeof(uint64_t)) < 0) return;
  if (waiting[CONTROL].revents != 0) resize();
  if (waiting[KEYBOARD].revents != 0) {
    fill(&own.typed, 0);
    own.has_keyboard = own.typed.left > 0;
  }
  if (waiting[MASTER].revents & POLLOUT && own.typed.left > 0) drain(&own.typed, own.master);
  /* If nobody reads standard output, the command goes on all the same. */
  if (waiting[SCREEN].revents != 0 && !drain(&own.shown, 1)) own.shown.left = 0;
  if (waiting[MASTER].revents & (POLLIN | POLLERR | POLLHUP) && own.shown.left == 0) fill(&own.shown, own.master);
  if (waiting[SIGNALS].revents != 0) hear_signal();
}

_Noreturn void terminal(char **words, char **environment) {
  own.control = (int)take_argument(words[0], INT32_MAX);
  if (own.control < 3 || words[1] == NULL) leave(CANNOT_EXECUTE);
  own.has_keyboard = own.has_control = true;
  open_terminal();
  start_command(words + 1, environment);
  for (;;) copy_once();
}
