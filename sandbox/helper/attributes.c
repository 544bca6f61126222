/*
 * Reads and changes the extended attributes of many files, and sets their modification times to the nanosecond, which Node can't. ACLs are attributes
 * too: `system.posix_acl_access` and `system.posix_acl_default`. Which ones are kept or dropped decides the engine.
 *
 *   standard input   := a plan: list(request)
 *   request          := number(operation) number(descriptor of a directory) text(path below it) and
 *                       for LIST nothing, for SET text(name) bytes(value), for REMOVE text(name),
 *                       for SET_TIME number(seconds since 1970, in two's complement) number(nanoseconds)
 *   standard output  := number(error number, or 0)..., one for each request, and after a 0 for LIST:
 *                       list(text(name) bytes(value) number(error number of reading the value, or 0))
 *
 * Symlinks are never followed; the attributes and the time of a symlink are its own.
 */
#include "helper.h"

#include "walk.h"
#include <linux/fcntl.h>
#include <linux/time_types.h>

enum operation { LIST = 1, SET = 2, REMOVE = 3, SET_TIME = 4, LAST_OPERATION = SET_TIME };
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
/* Small buffers are filled by short inputs. */
enum { MOST_NAMES = 256, MOST_VALUE = 256, OUTPUT = 64 };
#else
/* XATTR_LIST_MAX and XATTR_SIZE_MAX of the kernel. */
enum { MOST_NAMES = 65536, MOST_VALUE = 65536, OUTPUT = 65536 };
#endif
enum { NANOSECONDS = 1000000000, LEAVE_TIME = (1 << 30) - 2 /* UTIME_OMIT */ };

struct request {
  uint64_t operation, directory;
  struct place place;
  const char *name;
  const unsigned char *value;
  size_t length;
  struct __kernel_timespec modified;
};

static char output[OUTPUT];
static size_t output_size;

static void flush(void) {
  if (write_all(1, output, output_size) < 0) leave(EIO);
  output_size = 0;
}

static void put(const void *bytes, size_t size) {
  const char *from = bytes;
  for (size_t index = 0; index < size; index++) {
    if (output_size == OUTPUT) flush();
    output[output_size++] = from[index];
  }
}

static void put_number(uint64_t value) {
  char bytes[8];
  for (int index = 0; index < 8; index++) bytes[index] = (char)(value >> 8 * index);
  put(bytes, sizeof bytes);
}

static const char descriptors[] = "/proc/self/fd/";

/* An open entry's path. The calls for attributes refuse descriptors of O_PATH, but not what this magic link leads to: exactly that entry. */
static const char *path_of(int entry) {
  static char path[sizeof descriptors + MOST_DIGITS];
  size_t length = sizeof descriptors - 1;
  memcpy(path, descriptors, length);
  path[length + write_decimal(path + length, (uint32_t)entry)] = 0;
  return path;
}

/* Writes the reply with all attributes of an entry. */
static void reply_with_list(const char *path) {
  static char names[MOST_NAMES];
  static char value[MOST_VALUE];
  long size = CALL(listxattr, path, names, MOST_NAMES);
  /* The file system has no attributes. */
  if (size == -EOPNOTSUPP) size = 0;
  put_number(size < 0 ? (uint64_t)-size : 0);
  if (size < 0) return;
  uint64_t count = 0;
  for (long at = 0; at < size; at++) count += names[at] == 0;
  put_number(count);
  for (long at = 0; at < size;) {
    const char *name = names + at;
    size_t length = 0;
    while (at + (long)length < size && name[length] != 0) length++;
    if (at + (long)length == size) break;
    at += (long)length + 1;
    put_number(length);
    put(name, length + 1);
    long bytes = CALL(getxattr, path, name, value, MOST_VALUE);
    put_number(bytes < 0 ? 0 : (uint64_t)bytes);
    if (bytes > 0) put(value, (size_t)bytes);
    put_number(bytes < 0 ? (uint64_t)-bytes : 0);
  }
}

static struct request take_request(struct plan *plan) {
  struct request request = {.operation = take_number(plan), .name = ""};
  request.directory = take_number(plan);
  request.place.path = take_text(plan);
  if (request.operation == SET || request.operation == REMOVE) request.name = take_text(plan);
  if (request.operation == SET) request.value = take_bytes(plan, &request.length);
  if (request.operation == SET_TIME) {
    request.modified.tv_sec = (int64_t)take_number(plan);
    uint64_t nanoseconds = take_number(plan);
    /* Some larger numbers would have a meaning of their own (utimensat(2)). */
    if (nanoseconds >= NANOSECONDS) plan->bad = true;
    else request.modified.tv_nsec = (long long)nanoseconds;
  }
  if (request.operation < LIST || request.operation > LAST_OPERATION || request.directory > INT32_MAX) plan->bad = true;
  return request;
}

/* Changes what the request names. Returns a negated error number, or what isn't one. */
static long change(const struct request *request, const char *path) {
  struct __kernel_timespec times[2] = {{.tv_nsec = LEAVE_TIME}, request->modified};
  switch (request->operation) {
    case SET: return CALL(setxattr, path, request->name, request->value, request->length, 0);
    case REMOVE: return CALL(removexattr, path, request->name);
    default: return CALL(utimensat, AT_FDCWD, path, times, 0);
  }
}

static void serve(const struct request *request) {
  int entry;
  long error;
  if (walk(&request->place, (int)request->directory, &entry, &error) != ARRIVED) {
    put_number((uint64_t)-error);
    return;
  }
  const char *path = path_of(entry);
  if (request->operation == LIST) reply_with_list(path);
  else put_number((uint64_t)-error_in(change(request, path)));
  CALL(close, entry);
}

_Noreturn void attributes(char **words, char **environment) {
  (void)words, (void)environment;
  struct plan requests;
  long error = read_plan(&requests, 0);
  if (error < 0) leave(-error);
  /* Without it, every entry would seem to be missing. */
  error = CALL(openat, AT_FDCWD, descriptors, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (error < 0) leave(-error);
  size_t count = take_count(&requests);
  struct plan checked = requests;
  for (size_t index = 0; index < count; index++) take_request(&checked);
  if (!is_complete(&checked)) leave(EBADMSG);
  for (size_t index = 0; index < count; index++) {
    struct request request = take_request(&requests);
    serve(&request);
  }
  flush();
  leave(0);
}
