#include "report.h"

static int descriptor;

void report_to(int to) {
  descriptor = to;
}

_Noreturn void fail_at(const char *word, const char *path, long error) {
  write_all(descriptor, word, length_of(word));
  write_all(descriptor, path, length_of(path));
  leave(-error);
}

long need(long result) {
  if (result < 0) fail_at("start ", "", result);
  return result;
}
