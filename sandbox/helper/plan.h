/*
 * A plan: what the engine wants done, as it arrives through a descriptor. Its bytes are
 *
 *   plan   := number(size of the rest) number(1: the version of this format) value...
 *   number := eight bytes, the lowest first
 *   text   := number(length) that many bytes, none of them 0, and a 0
 *   bytes  := number(length) that many bytes
 *   list   := number(count) value...
 *
 * Which values a plan has, and in which order, says the code that reads it. A plan that is too short, too long or malformed is refused before
 * anything is done: reading past the end gives zeros and empty texts and makes the plan `bad`.
 */
#ifndef PLAN_H
#define PLAN_H

#include "kernel.h"

struct plan {
  const unsigned char *at, *end;
  bool bad;
};

/* Reads the plan from a descriptor, up to its end. Returns 0 or a negated error number. */
long read_plan(struct plan *plan, int descriptor);

uint64_t take_number(struct plan *plan);
const char *take_text(struct plan *plan);
const unsigned char *take_bytes(struct plan *plan, size_t *length);
/* The number of values in a list. No list is longer than what is left of the plan, so memory may be reserved for it. */
size_t take_count(struct plan *plan);

/* Whether the plan was well-formed and has been read completely. */
bool is_complete(const struct plan *plan);

#endif
