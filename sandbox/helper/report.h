/* How a sandbox's first program tells the engine what went wrong. The engine reads these words in `bubblewrap/start-report.ts`. */
#ifndef REPORT_H
#define REPORT_H

#include "kernel.h"

/* The descriptor for reports; its other end is the engine's. */
void report_to(int descriptor);

/* Writes the word and the path, and ends the process with the error number. `word` ends with a space. */
_Noreturn void fail_at(const char *word, const char *path, long error);

/* Ends the process with the report `start` if the result of a call is negative; otherwise returns the result. */
long need(long result);

#endif
