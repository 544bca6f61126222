import type { JudgeFinding, Judgement } from '../../core/run-record.ts'
import type { ToolContext } from '../../tools/tool.ts'
import type { RunChange } from '../../transaction/change-record.ts'
import type { StoredRun } from './base-cache.ts'
import { changedConfiguration, changesHooks, manifestsIn, startedBy } from './changed-configuration.ts'
import { packagesOf } from './installed-packages.ts'
import { matchesAny, stateOf, type Judge } from './judge.ts'
import type { JudgePart } from './judge-parts.ts'
import { textIn, type JudgeTree } from './judge-tree.ts'
import { isInTree } from './judge-trees.ts'
import { putAll, putChanges } from './put-changes.ts'
import { changesOfCommand } from './reach-command.ts'
import { variantsOf } from './judged-apart.ts'
import { notRed, redBefore } from './red-before.ts'
import { redTests, secondTry } from './second-try.ts'
import { isPassing, type TestResults } from './test-results.ts'
import { decide, describeDecision, findApart, isWeakening, type Decision, type JudgedRun } from './verdict.ts'

/** How a command ended in the run's own tree, and the state of the tree then. */
export type OwnRun = { readonly tests: TestResults; readonly state: string }

/** A judgement, and what the model and people are told if the change doesn't pass. */
export type Judged = { readonly judgement: Judgement; readonly passes: boolean; readonly lines: readonly string[] }

const mostFindings = 200
const mostPackages = 5

/**
 * Judges a change by a command that has succeeded in the run's own tree.
 *
 * @param mustBeRed whether the command must have failed without the change
 */
export async function judgeChange(
  judge: Judge,
  command: string,
  own: OwnRun,
  context: ToolContext,
  mustBeRed = false,
): Promise<Judged> {
  const base = await judge.base(command, context)
  if (base === undefined) throw new TypeError('the command ran before')
  const record = await judge.lastLook()
  const { changes } = record
  judge.noteJudged(record)
  const { path: root, source } = judge.tree
  const { directory } = judge.options.view
  const mine = changes.filter((change) => change.root === root && change.after.type !== 'directory')
  const baseTests = testsOf(base)
  // Runners also report a file that is no test, such as a helper in the folder of tests, as one test with the name of the file.
  const inFiles = [...baseTests.values(), ...own.tests.values()].filter(({ name, file }) => name !== file)
  const files = new Set(inFiles.flatMap(({ file }) => file ?? []))
  const before = (path: string): string | undefined => textIn(root, path)
  const after = (path: string): string | undefined => textIn(source, path)
  const reached = judge.reach(command, before, manifestsIn(mine))
  const byName = (path: string): JudgePart => judge.part(path, (each) => files.has(each), reached)
  // What git ignores is as on the base.
  const seen = mine.filter(({ ignored }) => ignored !== true)
  const sources = seen.flatMap(({ path }) => (byName(path) === 'source' ? [path] : []))
  // Where the command failed without showing tests, the base's files prove nothing: the run was to mend them.
  const mayBe = base.succeeded || baseTests.size > 0 ? sources : []
  const { named, groups, arePackage } = judge.apart(mayBe, reached, byName, (path) => files.has(path))
  const keeping = (paths: readonly string[]) => {
    const old = new Set(paths)
    return (path: string): JudgePart => (old.has(path) ? 'test' : byName(path))
  }
  const part = keeping(named)
  const inTests = seen.filter(({ path }) => part(path) === 'test').map(({ path }) => path)
  const commands = changesOfCommand(reached, judge.reach(command, after, manifestsIn(mine)))
  const hooked = inTests.filter((path) => changesHooks(path, before, after))
  const settings = [...changedConfiguration(seen, part, reached, [root, source]), ...hooked]
  const asOwn: JudgedRun = { succeeded: true, end: 'exit code 0', tests: own.tests }
  const written = new Set<string>()
  const testFiles = { changed: inTests.filter((path) => files.has(path) || files.size === 0), sources, before, after }
  const decideWith = (kept: JudgedRun, onBase?: JudgedRun): Decision =>
    decide({
      base: asJudged(base),
      kept,
      own: asOwn,
      onBase,
      commands: [...commands, ...startedBy(settings, reached, baseTests), ...[...written].map(asWritten)],
      settings,
      files: testFiles,
      support: inTests.filter((path) => !files.has(path) && files.size > 0 && !hooked.includes(path)),
    })
  let installed: readonly string[] = []
  const runKept = async (old: readonly string[] = []): Promise<StoredRun> => {
    const ran = await judge.runOn(command, base.asks, context, (trees) => {
      for (const tree of trees) {
        const theirs = changes.filter((change) => change.root === tree.view.path)
        if (tree.view.path !== root) putAll(tree, theirs, directory)
        else {
          const options = { part: keeping(old), base: root, own: source, directory, needsNone: baseTests.size > 0 }
          installed = putChanges(tree, theirs, options)
        }
      }
      requireTrees(context, trees)
    })
    if (ran === undefined) throw new Error('The change could not be judged: the command may no longer run.')
    for (const path of ran.written) if (!base.written.includes(path)) written.add(path)
    return ran
  }
  let onBase: Promise<StoredRun | undefined> | undefined
  /** Runs the run's tests on the base's sources, once. */
  const runOnBase = (): Promise<StoredRun | undefined> =>
    (onBase ??= judge.runOn(command, base.asks, context, (trees) => {
      const tree = trees.find(({ view }) => view.path === root)
      if (tree !== undefined)
        putAll(
          tree,
          mine.filter(({ path }) => inTests.includes(path)),
          directory,
        )
    }))

  const isOwn =
    mine.every(({ path, ignored }) => byName(path) === 'source' && ignored !== true) &&
    changes.every((change) => change.root === root) &&
    stateOf(changes) === own.state
  const kept = isOwn ? undefined : await runKept()
  let against = kept === undefined ? asOwn : asJudged(kept)
  let decision = decideWith(against)
  const flaky: JudgeFinding[] = []
  const tryAgain = async (passing: TestResults, first: JudgedRun, old?: readonly string[]): Promise<JudgedRun> => {
    if (redTests(passing, first).length === 0) return first
    const tried = secondTry(passing, first, asJudged(await runKept(old)))
    flaky.push(...tried.findings)
    return tried.best
  }
  if (decision.verdict !== 'kept' && kept !== undefined) {
    against = await tryAgain(baseTests, against)
    decision = decideWith(against)
  }
  if (decision.verdict === 'revised' && own.tests.size > 0) {
    const tested = await runOnBase()
    if (tested !== undefined) decision = decideWith(against, asJudged(tested))
  }
  // What may belong to the judge may be what is tested, too. So it isn't enough that everything passes with the run's: it must pass with the base's as well.
  const isApart = new Set([named, ...groups].flat())
  // Nothing of the base names a new file that isn't apart.
  const isOther = ({ path, before }: RunChange): boolean => {
    const what = byName(path)
    return what === 'dependency' || (what === 'source' && before.type !== 'absent' && !isApart.has(path))
  }
  const hasOthers = changes.some((change) => change.root !== root) || mine.some(isOther)
  // Where the decision doesn't need the base's judge to have seen a test, this one can't either.
  const passing = new Map([...baseTests].filter(([id, test]) => isPassing(test) && against.tests.has(id)))
  const redWith = async (old: readonly string[] = []): Promise<readonly JudgeFinding[]> => {
    if (old.length === 0) return []
    const ran = await tryAgain(passing, asJudged(await runKept(old)), old)
    return findApart(old, passing, asJudged(base), ran)
  }
  const parts = [named, ...groups].filter((group) => group.length > 0)
  // Two parts of a package may need each other, as both ends of a format do. A helper that has come to check less doesn't need the new sources.
  const canBeBoth = arePackage && parts.length === 2 && named.length === 0
  for (const [old, opposite] of variantsOf(parts, hasOthers)) {
    if (decision.verdict !== 'kept') break
    const red = await redWith(old)
    const others = red.length === 0 || (canBeBoth && opposite !== undefined) ? await redWith(opposite) : []
    const findings = canBeBoth && red.length > 0 && others.length > 0 ? [] : [...red, ...others]
    if (written.size > 0) decision = decideWith(against)
    else if (findings.length > 0) decision = { verdict: 'revised', findings }
  }
  const allowed = allowedBy(decision, judge)
  const isAllowed = decision.verdict === 'kept' || allowed !== undefined
  const withTests = inTests.length === 0 ? undefined : runOnBase
  const red = mustBeRed && isAllowed ? await redBefore({ base, withTests }, own.tests) : undefined
  const known = baseTests.size > 0 || (kept?.tests.length ?? 0) > 0
  const judgement: Judgement = {
    verdict: decision.verdict,
    by: known ? 'tests' : 'exit code only',
    judge_sha256: judge.hashes.judge,
    base: { ...shown(base), cached: base.cached },
    ...(kept === undefined ? {} : { kept: shown(kept) }),
    findings: [...decision.findings, ...flaky, ...dependencyNotes(installed)].slice(0, mostFindings),
    ...(red === undefined ? {} : { red_before: red }),
    ...(allowed === undefined ? {} : { allowed_by: allowed }),
  }
  const lines = [...describeDecision(decision), ...(red === null ? [`${command} ${notRed}`] : [])]
  return { judgement, passes: isAllowed && red !== null, lines }
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

function asWritten(file: string): { readonly file: string; readonly what: string } {
  return { file, what: `${file} was written while the base's tests ran` }
}

function requireTrees({ workspace, sandbox }: ToolContext, trees: readonly JudgeTree[]): void {
  const views = trees.map(({ view }) => view)
  const away = [workspace, ...sandbox.policy.writableRoots].find((path) => !isInTree(path, views))
  if (away === undefined) return
  throw new Error(`The change can't be judged: ${away} is no longer a directory of its own. Restore it.`)
}

function dependencyNotes(installed: readonly string[]): Judgement['findings'] {
  if (installed.length === 0) return []
  const packages = [...new Set(installed.flatMap((path) => packagesOf(path).at(-1) ?? []))]
  const rest = packages.length > mostPackages ? ` and ${packages.length - mostPackages} more` : ''
  const where = packages.length === 0 ? '' : `, in ${packages.slice(0, mostPackages).join(', ')}${rest}`
  const detail = `${installed.length} installed files differ from the base${where}`
  return [{ kind: 'note', subject: 'dependencies', detail }]
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
