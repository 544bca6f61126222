/** The most that a command may keep in `/dev/shm`, which is memory: a file without content too takes a piece of the kernel's. */
export const sharedMemory = { bytes: 256 * 1024 * 1024, files: 65_536 } as const
