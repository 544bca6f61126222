/**
 * The size of a patch, in bytes, at or above which V8's options are set. With a smaller patch, the run ends before the options would matter, so loading
 * `node:v8` would cost more time than it saves.
 */
const worthTelling = 64 * 1024

/**
 * Options for V8. They turn off its optimizing compiler and concurrent garbage collection: the results of both would be ready only when the run is about to
 * end, and until then both would use a core that the work needs. The last option makes the space for young objects grow to its full size at once; otherwise its
 * objects would be copied each time the space doubles.
 */
const flags = ['--no-turbofan', '--no-parallel-scavenge', '--no-concurrent-marking', '--semi-space-growth-factor=16']

/**
 * Tells V8 that this run is a short one.
 *
 * @param size the size of the patch in bytes
 */
export function expectShortRun(size: number): void {
  if (size < worthTelling) return
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of flags) setFlagsFromString(flag)
}
