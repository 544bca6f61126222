import { basename, join } from 'node:path'
import type { Judgement } from '../../core/run-record.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import type { ToolContext } from '../../tools/tool.ts'
import type { RunChange } from '../../transaction/change-record.ts'
import type { StoredRun } from './base-cache.ts'
import { matchesAny, stateOf, type Judge } from './judge.ts'
import { copyTrees, isInCopy, restore, restoreJudge, textIn, type JudgeTrees } from './judge-trees.ts'
import { changedSettings } from './merge-manifest.ts'
import { changesOfCommand, wordsOf, type Reached } from './reach-command.ts'
import { judgePolicy } from './run-under-judge.ts'
import { relativeTests, type TestResults } from './test-results.ts'
import { decide, describeDecision, isWeakening, type Decision, type JudgedRun } from './verdict.ts'
import { WatchedCommand } from './watched-command.ts'

/** How a command ended in the run's own tree, and the state of the tree then. */
export type OwnRun = { readonly tests: TestResults; readonly state: string }

/** A judgement, and what the model and people are told if the change doesn't pass. */
export type Judged = { readonly judgement: Judgement; readonly passes: boolean; readonly lines: readonly string[] }

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
  readonly judgeChange: (command: string, own: OwnRun, context: ToolContext) => Promise<Judged>
  readonly whyOthers: Judge['whyOthers']
}

/** Makes the functions of a judge available to a run. */
export function runJudge(judge: Judge): RunJudge {
  return {
    watchOwn: (command, context) => watchOwn(judge, command, context),
    judgeChange: (command, own, context) => judgeChange(judge, command, own, context),
    whyOthers: () => judge.whyOthers(),
  }
}

const mostFindings = 200

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
  const watched = new WatchedCommand(judge.watchOptions(command, source, base.asks))
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

/** Judges a change by a command that has succeeded in the run's own tree. */
export async function judgeChange(judge: Judge, command: string, own: OwnRun, context: ToolContext): Promise<Judged> {
  const base = await judge.base(command, context)
  if (base === undefined) throw new TypeError('the command ran before')
  const record = await judge.lastLook()
  const { changes } = record
  judge.noteJudged(record)
  const { path: root, source } = judge.tree
  const mine = changes.filter((change) => change.root === root && change.after.type !== 'directory')
  const baseTests = testsOf(base)
  // Runners also report a file that is no test, such as a helper in the folder of tests, as one test with the name of the file.
  const inFiles = [...baseTests.values(), ...own.tests.values()].filter(({ name, file }) => name !== file)
  const files = new Set(inFiles.flatMap(({ file }) => file ?? []))
  const reached = judge.reach(command, root, manifestsIn(mine))
  const part = (path: string) => judge.part(path, (each) => files.has(each), reached)
  const inTests = mine.filter((change) => part(change.path) === 'test').map((change) => change.path)
  const commands = changesOfCommand(reached, judge.reach(command, source, manifestsIn(mine)))
  const settings = changedConfiguration(mine, part, reached, [root, source])
  const decideWith = (kept: JudgedRun, onBase?: JudgedRun): Decision =>
    decide({
      base: asJudged(base),
      kept,
      own: { succeeded: true, end: 'exit code 0', tests: own.tests },
      onBase,
      commands: [...commands, ...startedBy(settings, reached, baseTests)],
      settings,
      files: {
        changed: inTests.filter((path) => files.has(path) || files.size === 0),
        before: (path) => textIn(root, path),
        after: (path) => textIn(source, path),
      },
      support: inTests.filter((path) => !files.has(path) && files.size > 0),
    })
  const isSame = mine.every((change) => part(change.path) === 'source' && change.ignored !== true)
  let kept: StoredRun | undefined
  let installed: readonly string[] = []
  const isElsewhere = changes.some((change) => change.root !== root)
  if (!isSame || isElsewhere || stateOf(changes) !== own.state) {
    await onTrees(judge, 'own', context, async (trees, place) => {
      installed = restoreJudge(mine, { part, base: root, copy: place })
      requireCopies(context, trees)
      kept = await judge.runOn(judge.watchOptions(command, place, base.asks), trees.views, context)
      if (kept === undefined) throw new Error('The change could not be judged: the command may no longer run.')
    })
  }
  let decision = decideWith(
    kept === undefined ? { succeeded: true, end: 'exit code 0', tests: own.tests } : asJudged(kept),
  )
  if (decision.verdict === 'revised' && own.tests.size > 0) {
    await onTrees(judge, 'base', context, async (trees, place) => {
      for (const path of inTests) restore(path, source, place)
      const onBase = await judge.runOn(judge.watchOptions(command, place, base.asks), trees.views, context)
      if (kept !== undefined && onBase !== undefined) decision = decideWith(asJudged(kept), asJudged(onBase))
    })
  }
  const allowed = allowedBy(decision, judge)
  const known = baseTests.size > 0 || (kept?.tests.length ?? 0) > 0
  const judgement: Judgement = {
    verdict: decision.verdict,
    by: known ? 'tests' : 'exit code only',
    judge_sha256: judge.hashes.judge,
    base: { ...shown(base), cached: base.cached },
    ...(kept === undefined ? {} : { kept: shown(kept) }),
    findings: [...decision.findings, ...dependencyNotes(installed)].slice(0, mostFindings),
    ...(allowed === undefined ? {} : { allowed_by: allowed }),
  }
  return { judgement, passes: decision.verdict === 'kept' || allowed !== undefined, lines: describeDecision(decision) }
}

/** The option of the user because of which a change passes although its verdict isn't good; undefined if there is none. */
function allowedBy({ verdict, findings }: Decision, judge: Judge): string | undefined {
  const { allowTestChanges, allowWeakening } = judge.options.settings
  if (verdict === 'kept') return undefined
  const isAllowed = findings.every(({ kind, subject }) => {
    if (kind === 'rewritten' && allowTestChanges) return true
    return (kind !== 'rewritten' && !isWeakening(kind)) || matchesAny(subject, allowWeakening)
  })
  if (!isAllowed) return undefined
  return verdict === 'revised' && allowTestChanges
    ? '--allow-test-changes'
    : `--allow-weakening ${allowWeakening.join(', ')}`
}

async function onTrees(
  judge: Judge,
  which: 'base' | 'own',
  { signal }: ToolContext,
  use: (trees: JudgeTrees, place: string) => Promise<void>,
): Promise<void> {
  const trees = await copyTrees(judge.options.view, which, which, signal)
  try {
    await use(trees, trees.views.find(({ path }) => path === judge.tree.path)?.source ?? '')
  } finally {
    await trees.remove()
  }
}

function requireCopies({ workspace, sandbox }: ToolContext, { views }: JudgeTrees): void {
  const away = [workspace, ...sandbox.policy.writableRoots].find((path) => !isInCopy(path, views))
  if (away === undefined) return
  throw new Error(`The change can't be judged: ${away} is no longer a directory of its own. Restore it.`)
}

/** The changed files that decide what the command does, apart from what it runs. */
function changedConfiguration(
  changes: readonly RunChange[],
  part: (path: string) => ReturnType<Judge['part']>,
  { files }: Reached,
  [base = '', own = '']: readonly string[],
): readonly string[] {
  return changes.flatMap(({ path }) => {
    const what = part(path)
    if (what === 'config') return files.includes(path) ? [] : [path]
    if (what !== 'manifest') return []
    const [before, after] = [textIn(base, path), textIn(own, path)]
    if (before === undefined) return []
    return changedSettings(basename(path), before, after ?? '')?.length === 0 ? [] : [path]
  })
}

/** Where tests have no ids, the configuration of a program that the command starts counts as a part of the command. */
function startedBy(
  settings: readonly string[],
  { text }: Reached,
  tests: TestResults,
): readonly { file: string; what: string }[] {
  if (tests.size > 0) return []
  const words = new Set(wordsOf(text))
  return settings.flatMap((file) => {
    const stem = basename(file).split('.')[0]?.replace(/file$/i, '').toLowerCase() ?? ''
    return words.has(stem) ? [{ file, what: `${file}, which ${stem} reads, was changed` }] : []
  })
}

function manifestsIn(changes: readonly RunChange[]): readonly string[] {
  return changes
    .map(({ path }) => path)
    .filter((path) => basename(path) === 'package.json' && !path.includes('node_modules/'))
}

function dependencyNotes(installed: readonly string[]): Judgement['findings'] {
  if (installed.length === 0) return []
  return [{ kind: 'note', subject: 'dependencies', detail: `${installed.length} installed files differ from the base` }]
}

function testsOf({ tests }: StoredRun): TestResults {
  return new Map(tests.map((test) => [test.id, { ...test, file: test.file }]))
}

function asJudged(run: StoredRun): JudgedRun {
  return { succeeded: run.succeeded, end: run.end, tests: testsOf(run) }
}

function shown({ tests, exitCode, durationMs }: StoredRun): NonNullable<Judgement['kept']> {
  return { passed: tests.reduce((sum, { passed }) => sum + passed, 0), exit_code: exitCode, duration_ms: durationMs }
}
