#include "kernel.h"

#include <linux/mman.h>

_Noreturn void leave(long code) {
  for (;;) CALL(exit_group, code);
}

size_t length_of(const char *text) {
  size_t length = 0;
  while (text[length] != 0) length++;
  return length;
}

bool is_same(const char *one, const char *other) {
  while (*one != 0 && *one == *other) one++, other++;
  return *one == *other;
}

size_t write_decimal(char *to, uint32_t number) {
  char backwards[MOST_DIGITS];
  size_t count = 0;
  do backwards[count++] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  for (size_t index = 0; index < count; index++) to[index] = backwards[count - 1 - index];
  return count;
}

void set_signal(int signal, unsigned long action) {
  /* The kernel's own struct sigaction: handler, flags, restorer, mask. */
  unsigned long wanted[4] = {action};
  CALL(rt_sigaction, signal, wanted, 0, 8);
}

long write_all(int descriptor, const void *from, size_t size) {
  const char *at = from;
  while (size > 0) {
    long count = CALL(write, descriptor, at, size);
    if (count == -EINTR) continue;
    if (count < 0) return count;
    at += count;
    size -= (size_t)count;
  }
  return 0;
}

long read_fully(int descriptor, void *to, size_t size) {
  char *at = to;
  size_t got = 0;
  while (got < size) {
    long count = CALL(read, descriptor, at + got, size - got);
    if (count == -EINTR) continue;
    if (count < 0) return count;
    if (count == 0) break;
    got += (size_t)count;
  }
  return (long)got;
}

void *allocate(size_t size) {
  long address = CALL(mmap, 0, size == 0 ? 1 : size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address < 0 && address > -4096) leave(ENOMEM);
  return (void *)address;
}
