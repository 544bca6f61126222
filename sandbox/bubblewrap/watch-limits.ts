import { readFileSync } from '../host-paths.ts'
import { O_CLOEXEC, O_WRONLY } from '../machine-code/kernel.ts'
import type { Instruction, Variable } from '../machine-code/machine-instructions.ts'
import type { Memory } from '../machine-code/make-program.ts'

/** How many inotify instances a command may have, and how many files these instances together may watch. */
export type WatchLimits = { readonly instances: number; readonly watches: number }

/**
 * Returns the inotify limits (inotify(7)) for one command. They are only a fraction of the user's own limits, because the caller's other programs,
 * such as an editor, count toward the user's limits too. The result is undefined if the user's limits can't be read.
 */
export function watchLimits(
  read: (file: string) => string = (file) => readFileSync(file, 'utf8'),
): WatchLimits | undefined {
  try {
    const [instances, watches] = ['max_user_instances', 'max_user_watches'].map((name) =>
      Number(read(`/proc/sys/fs/inotify/${name}`)),
    )
    if (!Number.isSafeInteger(instances) || !Number.isSafeInteger(watches)) return undefined
    return { instances: Math.ceil((instances ?? 0) / 4), watches: Math.ceil((watches ?? 0) / 2) }
  } catch {
    return undefined
  }
}

/** For each limit, the variable with its text, and the variable with the length of that text. The length is zero if there is no limit. */
type GivenLimits = Readonly<Record<'instances' | 'instancesLength' | 'watches' | 'watchesLength', Variable>>

/**
 * Returns the instructions that set the inotify limits of the user namespace in which the sandbox's first program is root. What processes in nested
 * namespaces use also counts toward these limits (namespaces(7), `/proc/sys/user`). If setting a limit fails, the instructions jump to `broken`.
 *
 * @param procfs the variable with the descriptor of a procfs in which every file can be written
 */
export function limitWatches(
  memory: Memory,
  given: GivenLimits,
  { procfs, error }: { readonly procfs: Variable; readonly error: Variable },
): readonly Instruction[] {
  const file = memory.variable()
  const write = (name: string, text: Variable, length: Variable): readonly Instruction[] => [
    {
      call: 'openat',
      operands: [procfs, memory.bytes(`sys/user/${name}\0`), O_WRONLY | O_CLOEXEC],
      result: file,
    },
    { set: error, to: file },
    { when: file, negative: true, goto: 'broken' },
    { call: 'write', operands: [file, text, length], result: error, failed: 'broken' },
    { call: 'close', operands: [file] },
  ]
  return [
    { when: given.instancesLength, is: 0, goto: 'watchesLimited' },
    ...write('max_inotify_instances', given.instances, given.instancesLength),
    ...write('max_inotify_watches', given.watches, given.watchesLength),
    { label: 'watchesLimited' },
  ]
}
