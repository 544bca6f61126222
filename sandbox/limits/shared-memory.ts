/**
 * How many bytes and files a command may store in `/dev/shm`, which is in memory. The number of files is limited too, because even an empty file takes kernel
 * memory.
 */
export const sharedMemory = { bytes: 256 * 1024 * 1024, files: 65_536 } as const
