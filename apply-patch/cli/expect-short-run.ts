/** A smaller patch is applied before V8 does any of this, and loading the module would cost more than it saves. */
const worthTelling = 64 * 1024

/**
 * Tells V8 that this run is a short one: what its last compiler makes of a function, and memory found free by threads
 * beside the work, would be ready when the run is about to end. Both cost the work a core until then.
 *
 * @param size of the patch in bytes
 */
export function expectShortRun(size: number): void {
  if (size < worthTelling) return
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of ['--no-turbofan', '--no-parallel-scavenge', '--no-concurrent-marking']) setFlagsFromString(flag)
}
