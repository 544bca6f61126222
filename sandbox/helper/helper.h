/* The helper's parts. Each gets the words after its name, up to a NULL, and the environment. */
#ifndef HELPER_H
#define HELPER_H

#include "kernel.h"

/* The exit code if a command can't be run. It is neither 126 nor 127, because sh uses these itself. */
enum { CANNOT_RUN = 125 };

/* start PLAN-DESCRIPTOR REPORT-DESCRIPTOR COMMAND...: the first program of a bubblewrap sandbox. */
_Noreturn void start(char **words, char **environment);
/* check PLAN-FILE MARK COMMAND...: the first program of a command in a container. */
_Noreturn void check(char **words, char **environment);
/* fence: puts a fence around this process, and writes the version of the kernel's interface, or 0 if there is no fence. */
_Noreturn void try_fence(char **words, char **environment);
/* filter FILTER-FILE COMMAND...: runs a command under a system call filter. */
_Noreturn void filter(char **words, char **environment);
/* init: the first process of a container. */
_Noreturn void init(char **words, char **environment);
/* listen CHANNEL PORT...: opens the ports of the proxy and of services, and passes them to the engine. */
_Noreturn void listener(char **words, char **environment);
/*
 * enter FILTER-FILE DIRECTORY COUNT PORT... COMMAND...: opens such ports in a container, passes them to the relay, and runs a command in the directory,
 * under the filter. The filter's path is absolute, because the command may be able to write to the directory.
 */
_Noreturn void enter(char **words, char **environment);
/* relay CHANNEL COUNT: receives the sockets of ports from `enter`, and passes them to the engine. */
_Noreturn void relay(char **words, char **environment);
/* terminal CONTROL COMMAND...: runs a command in a new terminal. */
_Noreturn void terminal(char **words, char **environment);
/* attributes: reads and changes extended attributes and ACLs, and sets modification times. */
_Noreturn void attributes(char **words, char **environment);

/* A number in an argument; -1 if there is none or it is above `most`. */
long take_argument(const char *word, long most);

/* Runs the part that the arguments name. `stack` has their number, the arguments, a NULL, the environment's variables, and a NULL. */
_Noreturn void run(long *stack);

/* Opens a file for reading; ends the process with CANNOT_RUN if it can't. */
int open_or_leave(const char *path);

/* Replaces the helper with the program that the first word names; ends the process with CANNOT_RUN if that fails. */
_Noreturn void become(char **words, char **environment);

#endif
