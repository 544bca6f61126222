#include "plan.h"

enum { VERSION = 1, MOST_BYTES = 64 << 20 };

long read_plan(struct plan *plan, int descriptor) {
  unsigned char head[8];
  struct plan size_only = {.at = head, .end = head + sizeof head};
  *plan = (struct plan){.bad = true};
  long got = read_fully(descriptor, head, sizeof head);
  if (got < 0) return got;
  if (got != sizeof head) return -EBADMSG;
  uint64_t size = take_number(&size_only);
  if (size > MOST_BYTES) return -EBADMSG;
  /* One byte more than announced, to notice a plan that goes on. */
  unsigned char *content = allocate(size + 1);
  got = read_fully(descriptor, content, size + 1);
  if (got < 0) return got;
  if ((uint64_t)got != size) return -EBADMSG;
  *plan = (struct plan){.at = content, .end = content + size};
  return take_number(plan) == VERSION && !plan->bad ? 0 : -EBADMSG;
}

static size_t left_in(const struct plan *plan) {
  return (size_t)(plan->end - plan->at);
}

static void refuse(struct plan *plan) {
  plan->bad = true;
  plan->at = plan->end;
}

uint64_t take_number(struct plan *plan) {
  uint64_t value = 0;
  if (left_in(plan) < 8) {
    refuse(plan);
    return 0;
  }
  for (int byte = 7; byte >= 0; byte--) value = value << 8 | plan->at[byte];
  plan->at += 8;
  return value;
}

const unsigned char *take_bytes(struct plan *plan, size_t *length) {
  uint64_t size = take_number(plan);
  *length = 0;
  if (size > left_in(plan)) {
    refuse(plan);
    return plan->at;
  }
  const unsigned char *start = plan->at;
  plan->at += size;
  *length = size;
  return start;
}

const char *take_text(struct plan *plan) {
  size_t length;
  const char *text = (const char *)take_bytes(plan, &length);
  if (left_in(plan) > 0 && *plan->at == 0 && !plan->bad) {
    plan->at++;
    if (length_of(text) == length) return text;
  }
  refuse(plan);
  return "";
}

size_t take_count(struct plan *plan) {
  uint64_t count = take_number(plan);
  /* Every value takes at least eight bytes. */
  if (count <= left_in(plan) / 8) return count;
  refuse(plan);
  return 0;
}

bool is_complete(const struct plan *plan) {
  return !plan->bad && plan->at == plan->end;
}
