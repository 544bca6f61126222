#include "helper.h"

#include <linux/fcntl.h>

static const struct {
  const char *name;
  void (*run)(char **words, char **environment);
} parts[] = {
  {"start", start},   {"check", check}, {"fence", try_fence}, {"filter", filter},     {"init", init},
  {"listen", listener}, {"enter", enter}, {"relay", relay}, {"terminal", terminal}, {"attributes", attributes},
};

_Noreturn void run(long *stack) {
  long count = stack[0];
  char **arguments = (char **)(stack + 1);
  /* If one of the three were closed, the next file that is opened would get its number, and become the command's input or output. */
  for (int descriptor = 0; descriptor <= 2; descriptor++) if (CALL(fcntl, descriptor, F_GETFD) < 0) leave(CANNOT_RUN);
  for (size_t index = 0; count > 1 && index < sizeof parts / sizeof *parts; index++) {
    if (is_same(arguments[1], parts[index].name)) parts[index].run(arguments + 2, arguments + count + 1);
  }
  static const char complaint[] = "portcullis helper: no such part\n";
  write_all(2, complaint, sizeof complaint - 1);
  leave(CANNOT_RUN);
}

long take_argument(const char *word, long most) {
  long value = 0;
  if (word == NULL || *word == 0) return -1;
  for (; *word != 0; word++) {
    if (*word < '0' || *word > '9') return -1;
    value = value * 10 + (*word - '0');
    if (value > most) return -1;
  }
  return value;
}

int open_or_leave(const char *path) {
  long file = path == NULL ? -EINVAL : CALL(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) leave(CANNOT_RUN);
  return (int)file;
}

_Noreturn void become(char **words, char **environment) {
  if (words[0] != NULL) CALL(execve, words[0], words, environment);
  leave(CANNOT_RUN);
}
