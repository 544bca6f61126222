import type { Sandbox, SandboxPolicy, View } from '../../../sandbox/index.ts'
import { overlayHints } from '../../tools/overlay-hints.ts'
import { verificationAction } from '../../tools/run-verification.ts'
import type { ToolContext } from '../../tools/tool.ts'
import type { StoredRun } from './base-cache.ts'
import { WatchedCommand, type WatchOptions } from './watched-command.ts'
import { relativeTests } from './test-results.ts'

/** Where a command runs under a judge. */
type JudgePlace = {
  readonly context: ToolContext
  /** What the command sees in place of the trees. */
  readonly views: readonly View[]
  /** The root of the tree that contains the workspace. Paths in results are relative to it. */
  readonly root: string
  readonly open: (policy: SandboxPolicy) => Promise<Sandbox>
  readonly readInTree: (path: string) => Buffer | undefined
  /** The state of the judge's files, by their paths. */
  readonly states: () => ReadonlyMap<string, string>
}

/**
 * Runs a command of the user in throw-away trees, and reads what became of its tests. Like every command, it runs only if the Guardian allows it.
 *
 * @returns undefined if it wasn't allowed
 * @throws LayersDiffer; SandboxError if it can't start in these trees
 */
export async function runUnderJudge(options: WatchOptions, place: JudgePlace): Promise<StoredRun | undefined> {
  const { context, views, root, open, readInTree, states } = place
  const { approved } = await context.review(verificationAction(options.command, context))
  const [program, ...words] = approved?.argv ?? []
  if (program === undefined) return undefined
  const watched = new WatchedCommand(options)
  const sandbox = await open(judgePolicy(context.sandbox.policy, watched.folder, views)).catch((error: unknown) => {
    watched.remove()
    throw error
  })
  try {
    const first = states()
    const { signal, variables, workspace } = context
    const child = sandbox.spawn({
      argv: watched.argv([program, ...words]),
      cwd: workspace,
      signal,
      ...(variables === undefined ? {} : { env: variables }),
    })
    let [differs, before] = [false, '']
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        watched.push(stream, bytes)
        const text = before + bytes.toString('latin1')
        differs ||= overlayHints(text, views).length > 0
        before = text.slice(-100)
      })
    }
    const result = await child.result
    signal.throwIfAborted()
    const after = states()
    const exitCode = result.status === 'exited' ? result.code : null
    if (differs && exitCode !== 0) throw new LayersDiffer()
    return {
      succeeded: exitCode === 0,
      end: exitCode === null ? result.status : `exit code ${exitCode}`,
      exitCode,
      durationMs: Math.round(result.durationMs),
      asks: options.asks,
      written: [...first].flatMap(([path, state]) => (after.get(path) === state ? [] : [path])),
      tests: [...relativeTests(watched.results(readInTree), root).values()].map(({ file, ...test }) => ({
        ...test,
        ...(file === undefined ? {} : { file }),
      })),
    }
  } finally {
    await sandbox.close()
    watched.remove()
  }
}

/** A command failed in layers with something that only overlays refuse. */
export class LayersDiffer extends Error {}

/** The policy of a run, for a command that sees other views and writes reports. */
export function judgePolicy(
  policy: SandboxPolicy,
  folder: string,
  views: readonly View[] = policy.views,
): SandboxPolicy {
  return { ...policy, views: [...views], writableRoots: [...policy.writableRoots, folder] }
}
