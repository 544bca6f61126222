import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { Command } from '../sandbox.ts'
import type { DiskLimit } from './disk.ts'

/** The default time limit: half an hour. Most builds take less time, and the time limits of CI jobs are longer. */
const defaultWallTimeMs = 30 * 60 * 1000

/** The default output limit: one gibibyte. That is more than anybody reads, but not enough to fill a disk or the memory of a program that keeps the output. */
const defaultOutputBytes = 1024 ** 3

/**
 * The limits that this program itself watches while one command runs.
 *
 * @param writes the directories that the command may write to
 */
export function commandLimits(
  policy: SandboxPolicy,
  command: Command,
  writes: readonly string[],
): { readonly timeoutMs: number; readonly outputBytes: number; readonly disk: DiskLimit } {
  const timeoutMs = command.timeoutMs ?? policy.limits.wallTimeMs ?? defaultWallTimeMs
  return {
    timeoutMs: Math.max(timeoutMs, 1),
    outputBytes: command.outputBytes ?? policy.limits.outputBytes ?? defaultOutputBytes,
    disk: { places: writes, bytes: policy.limits.diskBytes, files: policy.limits.files },
  }
}
