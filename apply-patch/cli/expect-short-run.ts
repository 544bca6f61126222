/**
 * The size of a patch, in bytes, at or above which V8's options are set. With a smaller patch, the run ends before the options would matter, so loading
 * `node:v8` would cost more time than it saves.
 */
const worthTelling = 64 * 1024

/** The size of a patch, in bytes, at or above which memory counts for more than the last bit of time: such a patch can have thousands of files. */
const large = 512 * 1024

/**
 * Options for V8. They turn off its optimizing compiler and garbage collection in other threads, because these would use processor time that a short run needs,
 * and the run would end before they are of any use.
 */
const always = ['--no-turbofan', '--no-parallel-scavenge', '--no-concurrent-marking']

/** The space for young objects grows to its full size at once; otherwise V8 would copy the objects in it each time the space doubles. */
const fast = ['--semi-space-growth-factor=16']

/**
 * The space for young objects doesn't grow, and garbage is collected, at once, whenever there is a fifth more than after the last time. By default, V8 waits
 * until there is several times as much. This takes a tenth more processor time, and half as much memory.
 */
const thrifty = ['--semi-space-growth-factor=1', '--no-incremental-marking', '--heap-growing-percent=20']

/**
 * Tells V8 that this run is a short one.
 *
 * @param size the size of the patch in bytes
 */
export function expectShortRun(size: number): void {
  if (size < worthTelling) return
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of [...always, ...(size < large ? fast : thrifty)]) setFlagsFromString(flag)
}
