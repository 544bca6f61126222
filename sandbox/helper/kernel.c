#include "kernel.h"

/* The build forbids the compiler to make calls of these two out of their own loops. */
void *memcpy(void *to, const void *from, size_t size) {
  char *target = to;
  const char *source = from;
  while (size-- > 0) *target++ = *source++;
  return to;
}

void *memset(void *at, int byte, size_t size) {
  char *target = at;
  while (size-- > 0) *target++ = (char)byte;
  return at;
}

#if defined(__x86_64__)
long kernel(long number, long a, long b, long c, long d, long e, long f) {
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}

/* The kernel starts a program with everything it gives to it on the stack, which C can only reach through an argument (see `run`). */
__asm__(".text\n.globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call run\n  hlt\n");
#elif defined(__aarch64__)
long kernel(long number, long a, long b, long c, long d, long e, long f) {
  register long which __asm__("x8") = number;
  register long first __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  register long fifth __asm__("x4") = e;
  register long sixth __asm__("x5") = f;
  __asm__ volatile("svc #0"
                   : "+r"(first)
                   : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "memory");
  return first;
}

__asm__(".text\n.globl _start\n_start:\n  mov x29, #0\n  mov x0, sp\n  bl run\n  brk #0\n");
#else
#error "the helper is for x64 and arm64"
#endif
