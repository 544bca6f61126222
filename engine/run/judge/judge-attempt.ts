import { join } from 'node:path'
import type { Sandbox } from '../../../sandbox/index.ts'
import type { ToolContext } from '../../tools/tool.ts'
import { judgeChange, type Judged, type OwnRun } from './judge-change.ts'
import { stateOf, type Judge } from './judge.ts'
import { textIn } from './judge-tree.ts'
import { judgePolicy } from './run-under-judge.ts'
import { relativeTests } from './test-results.ts'
import { WatchedCommand } from './watched-command.ts'

/** The run of a command in the run's own tree, which is watched. */
type OwnWatch = {
  readonly sandbox: Sandbox
  readonly argv: WatchedCommand['argv']
  readonly push: WatchedCommand['push']
  /** Reads the results once the command has ended, and removes what was needed to get them. Undefined: the run has changed nothing. */
  readonly end: () => Promise<OwnRun | undefined>
}

/** What a run needs of its judge. Only its type is imported there, so that runs that verify nothing don't load the judge. */
export type RunJudge = {
  readonly watchOwn: (command: string, context: ToolContext) => ReturnType<typeof watchOwn>
  readonly judgeChange: (command: string, own: OwnRun, context: ToolContext, mustBeRed: boolean) => Promise<Judged>
  readonly whyOthers: Judge['whyOthers']
}

/** Makes the functions of a judge available to a run. */
export function runJudge(judge: Judge): RunJudge {
  return {
    watchOwn: (command, context) => watchOwn(judge, command, context),
    judgeChange: (command, own, context, mustBeRed) => judgeChange(judge, command, own, context, mustBeRed),
    whyOthers: () => judge.whyOthers(),
  }
}

/**
 * Prepares the run of a command in the run's own tree.
 *
 * @returns undefined if there is nothing to judge: the run has changed nothing, or the command may not run
 */
export async function watchOwn(judge: Judge, command: string, context: ToolContext): Promise<OwnWatch | undefined> {
  if (judge.knownBase(command) === undefined && (await judge.look()).changes.length === 0) return undefined
  const base = await judge.base(command, context)
  if (base === undefined) return undefined
  const { source, path } = judge.tree
  const watched = new WatchedCommand(judge.watchOptions(command, (file) => textIn(source, file), base.asks))
  const sandbox = await judge.options
    .openOwn(judgePolicy(context.sandbox.policy, watched.folder))
    .catch((error: unknown) => {
      watched.remove()
      throw error
    })
  return {
    sandbox,
    argv: (approved) => watched.argv(approved),
    push: (stream, bytes) => watched.push(stream, bytes),
    end: async () => {
      try {
        const read = (name: string): Buffer | undefined => {
          const text = textIn(source, join(judge.cwd, name))
          return text === undefined ? undefined : Buffer.from(text)
        }
        const { changes } = await judge.look()
        return changes.length === 0
          ? undefined
          : { tests: relativeTests(watched.results(read), path), state: stateOf(changes) }
      } finally {
        await sandbox.close()
        watched.remove()
      }
    },
  }
}
