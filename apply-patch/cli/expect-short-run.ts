/**
 * The size in bytes from which V8's options are set. A smaller patch is applied before V8 does any of this, so loading the module would cost more than it
 * saves.
 */
const worthTelling = 64 * 1024

/**
 * V8's options: the results of its last compiler and of concurrent garbage collection would be ready only when the run is about to end, and until then
 * both would use a core that the work needs. The space for young objects gets its full size at once; otherwise its objects would be copied each time it
 * doubles.
 */
const flags = ['--no-turbofan', '--no-parallel-scavenge', '--no-concurrent-marking', '--semi-space-growth-factor=16']

/**
 * Tells V8 that this run is a short one.
 *
 * @param size of the patch in bytes
 */
export function expectShortRun(size: number): void {
  if (size < worthTelling) return
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of flags) setFlagsFromString(flag)
}
