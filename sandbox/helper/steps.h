/* The steps that turn the host's file system into the one that a command sees. */
#ifndef STEPS_H
#define STEPS_H

#include "walk.h"

/* What a step does with the entry at its place. The last two only look at a mount that somebody else has made. */
enum step_kind {
  HOLD = 1,          /* keep it open in a slot, for later steps */
  TAKE = 2,          /* copy it with its mounts into a slot, for one later step */
  MOUNT_ITSELF = 3,  /* mount a copy of it onto itself */
  MOUNT_HELD = 4,    /* mount a copy of a held entry onto it */
  MOUNT_TAKEN = 5,   /* mount a taken copy onto it */
  MOUNT_MEMORY = 6,  /* mount an empty file system in memory onto it */
  MOUNT_SHARED_MEMORY = 7, /* like MOUNT_MEMORY, with the options of /dev/shm */
  CHANGE = 8,        /* change the flags of the mount whose root it is */
  COVER = 9,         /* replace a held directory by an overlay of it, which stores what is written in the directory at the place, for MOUNT_TAKEN */
  EXPECT_WRITABLE = 10,
  EXPECT_READ_ONLY = 11,
};

/*
 * steps := text(size of the shared memory) text(its number of files) number(how many slots) list(step)
 * step := number(kind) number(create) number(has identity) number(device) number(inode) number(slot) number(recursive) number(set) number(clear) text(path)
 */
struct step {
  struct place place;
  uint64_t kind;
  uint64_t slot;
  /* The flags of mount_setattr(2) to set and clear, on all mounts below too if `recursive`. */
  bool recursive;
  uint64_t set, clear;
};

struct steps {
  struct plan records;
  size_t count;
  size_t slot_count;
  int *slots;
  /* Options of tmpfs(5) for the shared memory. */
  const char *shared_bytes, *shared_files;
};

/* Takes the steps from a plan, all of them expectations or none. Malformed ones make the plan bad. */
struct steps take_steps(struct plan *plan, bool are_expectations);

struct step take_step(struct plan *records);

/* Carries out all steps of a sandbox. If one fails, reports it (see `fail_at`) and ends the process. */
void make_mounts(struct steps *steps);

#endif
