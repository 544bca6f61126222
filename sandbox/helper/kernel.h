/*
 * The boundary between the helper and the kernel. Everything that the helper does to the outside is a `CALL`, whose name and arguments are those of
 * section 2 of the manual. There is no libc: the helper must run in containers that have none, and a reader should not have to trust one.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <asm/unistd.h>
#include <linux/errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a system call. A negative result is a negated error number. `kernel.c` implements this for real, `fuzz/fake-kernel.c` for fuzzing. */
long kernel(long number, long a, long b, long c, long d, long e, long f);

/* CALL(openat, directory, path, flags): arguments that are left out are 0. */
#define CALL(name, ...) CALL_WITH(__NR_##name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_WITH(number, a, b, c, d, e, f, ...) kernel(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* The compiler may call these itself, for example to copy a struct. */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *at, int byte, size_t size);

/* Ends the process. */
_Noreturn void leave(long code);

size_t length_of(const char *text);
bool is_same(const char *one, const char *other);

/* Writes the number's decimal digits, of which there are at most this many, without a 0 at their end. Returns how many there are. */
enum { MOST_DIGITS = 10 };
size_t write_decimal(char *to, uint32_t number);

/* Sets what a signal does to this process: 0 for what it does by default, 1 for nothing (SIG_DFL and SIG_IGN of signal(7)). */
void set_signal(int signal, unsigned long action);

/* Writes all of it. Returns 0 or a negated error number. */
long write_all(int descriptor, const void *from, size_t size);

/* Reads until the buffer is full or there is no more. Returns the number of bytes, or a negated error number. */
long read_fully(int descriptor, void *to, size_t size);

/* Returns `size` zeroed bytes; ends the process if there is no memory. Nothing is ever given back, because the helper is replaced by a command. */
void *allocate(size_t size);

/* The negated error number in a result, or 0 if the call succeeded. */
static inline long error_in(long result) {
  return result < 0 ? result : 0;
}

#endif
