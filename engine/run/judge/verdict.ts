import { basename, extname } from 'node:path/posix'
import type { JudgeFinding, JudgeVerdict } from '../../core/run-record.ts'
import { counted } from '../../core/text/counted.ts'
import { filesOf, findSameTests, ownName, type TestFiles } from './same-tests.ts'
import { isPassing, type TestResult, type TestResults } from './test-results.ts'
import { checksLess, textOfTest } from './test-text.ts'

/** How a command ended and what became of its tests. */
export type JudgedRun = { readonly succeeded: boolean; readonly end: string; readonly tests: TestResults }

/** What is compared. */
type Evidence = {
  readonly base: JudgedRun
  /** The base's judge on the run's sources. */
  readonly kept: JudgedRun
  /** The run's own tree. It succeeded. */
  readonly own: JudgedRun
  /** The run's tests on the base's sources; undefined if that wasn't needed. */
  readonly onBase?: JudgedRun | undefined
  readonly files: TestFiles
  /** The changed files that tests use, but that contain none. */
  readonly support: readonly string[]
  /** What the run changed in what the command runs. */
  readonly commands: readonly { readonly file: string; readonly what: string }[]
  /** Other changed files that decide what the command runs. */
  readonly settings: readonly string[]
}

export type Decision = { readonly verdict: JudgeVerdict; readonly findings: readonly JudgeFinding[] }

/**
 * Decides whether a change is good by what is known to have been good before. Results decide, not which files were touched: the tests that passed on the
 * base must be seen to pass, as they were, on the run's sources.
 */
export function decide(evidence: Evidence): Decision {
  const { base, kept, own, commands, settings, files } = evidence
  // Where the base shows no results, as before its dependencies are installed, what its judge shows on the run's sources has to be enough.
  const baseline = base.tests.size > 0 ? base.tests : kept.tests
  // A test that failed counts too: it can't have become good by being removed.
  const required = [...baseline.values()].filter((test) => totalOf(test) > 0 && !isUsedByTests(test, baseline, files))
  const findings: JudgeFinding[] = commands.map(({ file, what }) => ({ kind: 'command', subject: file, detail: what }))
  const absent = required.filter(({ id }) => !own.tests.has(id))
  const same = findSameTests(absent, { before: baseline, after: own.tests, files })
  const now = ({ id }: TestResult): TestResult | undefined => own.tests.get(same.get(id) ?? id)
  for (const test of required) {
    const found = now(test)
    const subject = test.file ?? test.id
    if (found === undefined) findings.push({ kind: 'vanished', subject, test: test.id })
    else if (found.failed > 0) findings.push({ kind: 'failed', subject, test: test.id })
    else if (found.passed >= totalOf(test)) continue
    else if (found.skipped > 0) findings.push({ kind: 'disabled', subject, test: test.id })
    else findings.push({ kind: 'vanished', subject, test: test.id, detail: 'it has fewer cases than before' })
  }
  const named = new Set(findings.map(({ test }) => test))
  // The base's judge has no tests that were in sources, so one that is now elsewhere with the same text is only in the run's own tree.
  const hasMoved = (test: TestResult): boolean =>
    same.has(test.id) && !kept.tests.has(test.id) && isInSource(test, files)
  const red = required.filter(
    (test) => !isKept(test, kept.tests.get(test.id)) && !named.has(test.id) && !hasMoved(test),
  )
  for (const test of red) findings.push(explainRed(test, now(test), evidence))
  if (!kept.succeeded && !isRedAsBefore(evidence) && !findings.some(({ kind }) => isAbout(kind))) {
    const isTests = required.length === 0 && settings.length === 0 && files.changed.length + evidence.support.length > 0
    const first = settings[0] ?? files.changed[0] ?? evidence.support[0] ?? ''
    const detail = `with the base's tests and configuration, the command ended with ${kept.end}`
    findings.push({ kind: isTests ? 'rewritten' : 'settings', subject: first, detail })
  }
  // Lists are cut, so what decides comes first.
  findings.sort((one, other) => Number(isWeakening(other.kind)) - Number(isWeakening(one.kind)))
  const verdict = findings.some(({ kind }) => isWeakening(kind))
    ? 'weakened'
    : findings.some(({ kind }) => kind === 'rewritten')
      ? 'revised'
      : 'kept'
  const told = verdict === 'kept' ? notes(evidence, required.length) : []
  return { verdict, findings: [...findings, ...told] }
}

/**
 * Whether a file that a runner reports as one test is only used by tests: node:test runs everything in the folder of tests. A file that checks something itself
 * isn't named in others.
 */
function isUsedByTests({ name, file }: TestResult, baseline: TestResults, { before }: TestFiles): boolean {
  if (file === undefined || name !== file) return false
  const stem = basename(file, extname(file))
  const others = new Set([...baseline.values()].flatMap((test) => (test.name === test.file ? [] : (test.file ?? []))))
  return [...others].some((path) =>
    ['', extname(file)].some((end) => ["'", '"'].some((quote) => before(path)?.includes(`/${stem}${end}${quote}`))),
  )
}

/**
 * Whether the base's judge fails against the change only as it did on the base, where it showed no tests, and the run has only added tests: a command may name a
 * file of tests that didn't exist. Nothing that was good before is lost then.
 */
function isRedAsBefore({ base, kept, settings, support, files }: Evidence): boolean {
  const isAlike = !base.succeeded && base.end === kept.end && base.tests.size === 0 && kept.tests.size === 0
  return (
    isAlike && settings.length === 0 && [...files.changed, ...support].every((path) => files.before(path) === undefined)
  )
}

/** Whether all of a test's cases that ran on the base were seen to pass. */
export function isKept(test: TestResult, found: TestResult | undefined): boolean {
  return found !== undefined && isPassing(found) && found.passed >= totalOf(test)
}

/**
 * What shows that a change is only good with its own version of files that may belong to the judge.
 *
 * @param old those files, which are the base's in `ran`
 * @param passing the tests that passed on the base
 */
export function findApart(
  old: readonly string[],
  passing: TestResults,
  base: JudgedRun,
  ran: JudgedRun,
): readonly JudgeFinding[] {
  const [subject = ''] = old
  const detail = `it fails against the change with ${old.join(', ')} as before`
  const red = [...passing.values()].filter((test) => !isKept(test, ran.tests.get(test.id)))
  if (red.length === 0 && base.succeeded && !ran.succeeded) return [{ kind: 'rewritten', subject, detail }]
  return red.map(({ id }) => ({ kind: 'rewritten', subject, test: id, detail }))
}

/** How many tests under an id passed or failed. The others didn't run. */
function totalOf({ passed, failed }: TestResult): number {
  return passed + failed
}

/** Why a test of the base that doesn't pass against the change passes in the run's own tree. */
function explainRed(test: TestResult, now: TestResult | undefined, evidence: Evidence): JudgeFinding {
  const { files, support, kept, settings, onBase } = evidence
  const subject = test.file ?? test.id
  const state = kept.tests.get(test.id)
  const how = state === undefined ? 'was not seen to run' : 'fails'
  const about = { subject, test: test.id }
  const [before, after] = [textIn(test, files, files.before), now && textIn(now, files, files.after)]
  const isRewritten = test.file === undefined ? files.changed.length > 0 : files.changed.includes(test.file)
  if (!isRewritten && support.length === 0) {
    const cause =
      settings.length > 0 ? `${settings.join(', ')} changed` : 'nothing that the run changed in the tests explains it'
    // A test that runs and fails needs settings that excuse it. One that can't run may need those that say where sources are now.
    const kind = state === undefined && settings.length > 0 ? 'rewritten' : 'settings'
    return { kind, ...about, detail: `as it was, it ${how} against the change; ${cause}` }
  }
  const old = now && onBase?.tests.get(now.id)
  // A text that is the same can pass in place of the old one because its mark expects a failure. Then it fails where the old one passes.
  const isInverted = test.failed > 0 || (old !== undefined && !isPassing(old))
  const isOnlyMarked = before !== undefined && after !== undefined && before.body !== '' && before.body === after.body
  if (
    isOnlyMarked &&
    isInverted &&
    withoutTexts(before.head) !== withoutTexts(after.head) &&
    now !== undefined &&
    ownName(now) === ownName(test) &&
    !test.id.endsWith(']')
  ) {
    return { kind: 'disabled', ...about, detail: `only the line that declares it changed: ${after.head}` }
  }
  const isEmptied = before !== undefined && after !== undefined && checksLess(before, after)
  if (isEmptied && old !== undefined && isPassing(old)) {
    return { kind: 'emptied', ...about, detail: 'it checks less than before, and passes with and without the change' }
  }
  return { kind: 'rewritten', ...about, detail: `as it was, it ${how} against the change` }
}

/** A mark without the texts in it: one that expects another message still expects one. */
function withoutTexts(mark: string): string {
  return mark.replaceAll(/"[^"]*"/g, '""')
}

/** Whether the text of a test was in a file that contains more than tests. */
function isInSource(test: TestResult, files: TestFiles): boolean {
  const isIn = (path: string): boolean => textOfTest(files.before(path) ?? '', ownName(test)) !== undefined
  return test.file === undefined && files.sources.some(isIn) && !files.changed.some(isIn)
}

function textIn(test: TestResult, files: TestFiles, read: TestFiles['before']): ReturnType<typeof textOfTest> {
  return filesOf(test, files)
    .map((path) => textOfTest(read(path) ?? '', ownName(test)))
    .find((text) => text !== undefined)
}

/** What a person who reviews a change with a good verdict may want to look at. */
function notes({ files, support, settings, base }: Evidence, required: number): readonly JudgeFinding[] {
  const tests = [...base.tests.values()].filter(({ file }) => file === undefined)
  const withTests = files.sources.filter((path) =>
    tests.some((test) => textOfTest(files.before(path) ?? '', ownName(test)) !== undefined),
  )
  return [
    ...withTests.map((subject) => ({ kind: 'note', subject, detail: insideSource }) as const),
    ...files.changed.map((subject) => ({ kind: 'edited', subject }) as const),
    ...[...support, ...settings].map((subject) => ({ kind: 'edited', subject }) as const),
    ...(base.succeeded || required > 0
      ? []
      : [{ kind: 'note', subject: 'base', detail: `the command ended with ${base.end} before the change` } as const]),
  ]
}

const insideSource = 'the tests inside it are compared only by their names'

const weakenings: readonly JudgeFinding['kind'][] = ['command', 'vanished', 'failed', 'disabled', 'settings', 'emptied']

export function isWeakening(kind: JudgeFinding['kind']): boolean {
  return weakenings.includes(kind)
}

function isAbout(kind: JudgeFinding['kind']): boolean {
  return kind !== 'command' && kind !== 'edited' && kind !== 'note'
}

const mostNamed = 10

/** Describes a verdict for the model and for people; empty if the judge has nothing to say against the change. */
export function describeDecision({ verdict, findings }: Decision): readonly string[] {
  if (verdict === 'kept') return []
  const against = findings.filter(({ kind }) => isAbout(kind) || kind === 'command')
  return [
    ...against.slice(0, mostNamed).map(({ kind, subject, test, detail }) => {
      const after = detail === undefined ? '' : `: ${detail}`
      return `${test ?? subject} ${sayings[kind]}${after}`
    }),
    ...(against.length > mostNamed ? [`and ${counted(against.length - mostNamed, 'more')}`] : []),
  ]
}

const sayings: Readonly<Record<JudgeFinding['kind'], string>> = {
  command: 'belongs to what the command runs, and differs from the base',
  vanished: 'passed before the change, and is gone',
  failed: 'passed before the change, and fails now, although the command succeeds',
  disabled: 'passed before the change, and is skipped or expected to fail now',
  settings: 'decides what the command does, and only its change makes it succeed',
  emptied: 'was rewritten so that it no longer checks what it did',
  rewritten: 'was rewritten',
  edited: 'was edited',
  note: '',
}
