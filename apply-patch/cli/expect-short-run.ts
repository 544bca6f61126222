/**
 * The size of a patch, in bytes, at or above which V8's options are set. With a smaller patch, the run ends before the options would matter, so loading
 * `node:v8` would cost more time than it saves.
 */
const worthTelling = 64 * 1024

/**
 * Options for V8. They turn off its optimizing compiler and garbage collection in other threads, because these would use processor time that a short run needs,
 * and the run would end before they are of any use. The last option makes the space for young objects grow to its full size at once; otherwise V8 would copy
 * the objects in it each time the space doubles.
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
