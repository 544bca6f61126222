/**
 * What keeps commands from writing outside their directories besides mounts: Landlock (landlock(7)), with the version of the kernel's interface, or
 * nothing. Older versions refuse less (sandbox/helper/README.md).
 */
export type SecondFence = `landlock ${number}` | 'none'

/** Names the fence that the helper puts up here. */
export function nameFence(version: number): SecondFence {
  return version === 0 ? 'none' : `landlock ${version}`
}

/** The statement that a sandbox makes where the kernel has no fence. */
const withoutFence =
  'only mounts keep commands from writing outside their directories: this kernel has no Landlock (version 2 or newer) as a second fence'

/** What isn't enforced with this fence, as sentences for a run's summary. */
export function unenforcedWith(fence: SecondFence): readonly string[] {
  return fence === 'none' ? [withoutFence] : []
}

/** Reads the version in the output of the helper's `fence`; 0 if there is none. */
export function fenceVersionIn(output: string): number {
  return Number(/^\d+$/m.exec(output)?.[0] ?? 0)
}
