/** A smaller patch is applied before V8 does any of this, and loading the module would cost more than it saves. */
const worthTelling = 64 * 1024

/**
 * What V8 is told: what its last compiler makes of a function, and what threads beside the work find to be garbage, would
 * be ready when the run is about to end, and both take a core from the work until then. Young objects get all of their
 * room at once instead of being copied each time it doubles.
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
