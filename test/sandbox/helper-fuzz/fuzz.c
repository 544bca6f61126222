/*
 * A target of libFuzzer: runs one part of the helper (the variable PART) with a kernel that the input makes up. Every result of a system call comes
 * from the input, and so does everything that the kernel writes into memory; memory that the helper gives to the kernel is read or written as far as
 * the real kernel would, so that the sanitizers notice what is too short.
 *
 *   input := number of words (1 byte), their bytes each ended by 0; length of the plan (2 bytes), the plan; results (1 byte each) and bytes
 */
#define FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#include "../../../sandbox/helper/common.c"
#include "../../../sandbox/helper/plan.c"
#include "../../../sandbox/helper/walk.c"
#include "../../../sandbox/helper/report.c"
#include "../../../sandbox/helper/steps.c"
#include "../../../sandbox/helper/confine.c"
#include "../../../sandbox/helper/start.c"
#include "../../../sandbox/helper/container.c"
#include "../../../sandbox/helper/network.c"
#include "../../../sandbox/helper/attributes.c"
#include "../../../sandbox/helper/main.c"
#include "../../../sandbox/helper/terminal.c"

/* Of the C library, only what doesn't clash with the kernel's headers. */
void *calloc(size_t count, size_t size);
void free(void *at);
char *getenv(const char *name);
void abort(void);
typedef long jump_buffer[64];
int _setjmp(jump_buffer);
_Noreturn void longjmp(jump_buffer, int);

static jump_buffer ended;
static const unsigned char *next, *last, *plan_next, *plan_last;
static void *reserved[4096];
static size_t reserved_count;
static volatile unsigned char seen;

static unsigned char take(void) {
  if (next == last) longjmp(ended, 1);
  return *next++;
}

static void *reserve(size_t size) {
  if (reserved_count == sizeof reserved / sizeof *reserved) longjmp(ended, 1);
  return reserved[reserved_count++] = calloc(1, size);
}

static void look_at(long address, size_t size) {
  /* The comparison makes MemorySanitizer notice bytes that were never set. */
  for (size_t index = 0; index < size; index++) if (((const unsigned char *)address)[index] != 0) seen++;
}

static void look_at_text(long address) {
  look_at(address, length_of((const char *)address) + 1);
}

static void look_at_list(long address) {
  for (char **each = (char **)address; *each != NULL; each++) look_at_text((long)*each);
}

/* Writes bytes of the input, over and over. */
static void make_up(long address, size_t size) {
  unsigned char some[4] = {take(), take(), take(), take()};
  for (size_t index = 0; index < size; index++) ((unsigned char *)address)[index] = some[index % sizeof some];
}

/* A descriptor or a count from the input; often an error. */
static long result(void) {
  unsigned char byte = take();
  return byte < 64 ? -(long)byte : byte - 64;
}

static long amount(size_t most) {
  long count = result();
  /* Rarely much, because that takes long. */
  if (count > 185) count *= 700;
  return count > 0 && (size_t)count > most ? (long)most : count;
}

static long from_plan(long to, size_t size) {
  size_t left = (size_t)(plan_last - plan_next), count = size < left ? size : left;
  if (count > 1 && take() % 4 == 0) count = 1 + take() % count;
  memcpy((void *)to, plan_next, count);
  plan_next += count;
  return (long)count;
}

long kernel(long number, long a, long b, long c, long d, long e, long f) {
  long count;
  (void)e, (void)f;
  switch (number) {
    case __NR_exit_group: longjmp(ended, 1);
    case __NR_fcntl: return result();
    /* No input is larger, and clearing more would take most of the time. */
    case __NR_mmap: return b > 1 << 17 ? -ENOMEM : (long)reserve((size_t)b);
    case __NR_read:
      if (a == 0 || a == 6) return from_plan(b, (size_t)c);
      count = amount((size_t)c);
      if (count > 0) make_up(b, (size_t)count);
      return count;
    case __NR_write:
      /* Looking at all that was offered each time would take most of the time. */
      count = amount((size_t)c);
      if (count > 0) look_at(b, (size_t)count);
      if (c > 0) look_at(b + c - 1, 1);
      return count;
    case __NR_openat:
    case __NR_mkdirat:
      look_at_text(b);
      /* Mostly the descriptor from which a plan is read. */
      count = result();
      return count > 40 ? 6 : count;
    case __NR_openat2: look_at_text(b), look_at(c, (size_t)d); return result();
    case __NR_unlinkat:
    case __NR_open_tree:
    case __NR_statx:
    case __NR_newfstatat:
    case __NR_move_mount:
      look_at_text(b);
      count = result();
      if (number == __NR_newfstatat) make_up(c, sizeof(struct stat));
      if (number == __NR_statx) make_up(e, sizeof(struct statx));
      return count;
    case __NR_fstatfs: make_up(b, sizeof(struct statfs)); return result();
    case __NR_mount_setattr: look_at(d, (size_t)e); return result();
    case __NR_fsopen:
    case __NR_chdir: look_at_text(a); return result();
    case __NR_fsconfig:
      if (c != 0) look_at_text(c), look_at_text(d);
      return result();
    case __NR_landlock_create_ruleset: look_at(a, (size_t)b); return result();
    case __NR_landlock_add_rule: look_at(c, sizeof(struct landlock_path_beneath_attr)); return result();
    case __NR_seccomp: {
      const struct sock_fprog *program = (const struct sock_fprog *)c;
      look_at((long)program->filter, program->len * sizeof(struct sock_filter));
      return result();
    }
    case __NR_capset:
      look_at(a, sizeof(struct __user_cap_header_struct));
      look_at(b, 2 * sizeof(struct __user_cap_data_struct));
      return result();
    case __NR_close_range:
      if ((unsigned long)a > (unsigned long)b) abort();
      return result();
    case __NR_execve: look_at_text(a), look_at_list(b), look_at_list(c); return result();
    case __NR_bind:
    case __NR_connect: look_at(b, (size_t)c); return result();
    case __NR_sendmsg: {
      const struct message *message = (const struct message *)b;
      look_at((long)message->parts->bytes, message->parts->size);
      look_at((long)message->control, message->control_size);
      return result();
    }
    case __NR_recvmsg: {
      struct message *message = (struct message *)b;
      make_up((long)message->parts->bytes, message->parts->size);
      make_up((long)message->control, message->control_size);
      message->control_size = take() % (message->control_size + 1);
      message->flags = take();
      return result();
    }
    case __NR_getsockopt: make_up(d, sizeof(int)); return result();
    case __NR_utimensat: look_at_text(b), look_at(c, 2 * sizeof(struct __kernel_timespec)); return result();
    case __NR_ioctl:
      if (b == TIOCGPGRP) make_up(c, sizeof(int));
      if (b == TIOCSWINSZ) look_at(c, sizeof(struct winsize));
      return result();
    case __NR_ppoll:
      look_at(a, (size_t)b * sizeof(struct pollfd));
      for (long index = 0; index < b; index++) {
        struct pollfd *each = (struct pollfd *)a + index;
        each->revents = each->fd < 0 ? 0 : take();
      }
      return result();
    case __NR_rt_sigaction: look_at(b, 4 * sizeof(long)); return result();
    case __NR_wait4: make_up(b, sizeof(int)); return result();
    case __NR_listxattr:
    case __NR_getxattr:
      look_at_text(a);
      if (number == __NR_getxattr) look_at_text(b);
      count = amount((size_t)(number == __NR_listxattr ? c : d));
      if (count > 0) make_up(number == __NR_listxattr ? b : c, (size_t)count);
      return count;
    case __NR_setxattr: look_at_text(a), look_at_text(b), look_at(c, (size_t)d); return result();
    case __NR_removexattr: look_at_text(a), look_at_text(b); return result();
    default: return result();
  }
}

/* Makes the words of the command line, in memory of exactly their size. */
static char **take_words(void) {
  size_t count = take() % 8;
  char **words = reserve((count + 1) * sizeof *words);
  for (size_t index = 0; index < count; index++) {
    size_t length = 0;
    while (next + length < last && next[length] != 0) length++;
    words[index] = reserve(length + 1);
    memcpy(words[index], next, length);
    next += length;
    take();
  }
  return words;
}

static void take_plan(void) {
  size_t size = take();
  size |= (size_t)take() << 8;
  if (size > (size_t)(last - next)) size = (size_t)(last - next);
  plan_next = next;
  next = plan_last = next + size;
}

int LLVMFuzzerTestOneInput(const unsigned char *input, size_t size) {
  static char *environment[] = {"NAME=value", NULL};
  static const char *part;
  if (part == NULL && (part = getenv("PART")) == NULL) abort();
  next = plan_next = plan_last = input;
  last = input + size;
  memset(&terminal_state, 0, sizeof terminal_state);
  output_size = 0;
  if (_setjmp(ended) == 0) {
    char **words = take_words();
    take_plan();
    for (size_t index = 0; index < sizeof parts / sizeof *parts; index++) {
      if (is_same(parts[index].name, part)) parts[index].run(words, environment);
    }
    abort();
  }
  while (reserved_count > 0) free(reserved[--reserved_count]);
  return 0;
}
