import { diffLines } from '../../../apply-patch/index.ts'
import type { ReadRollout } from '../../session/rollout.ts'
import { stepsOf } from '../../session/steps.ts'
import type { Report } from '../report-types.ts'
import { comparableStep, comparableText, type ComparableCall, type ComparableStep } from './comparable.ts'

/** A stored session and its report. */
export type ComparedRun = { readonly rollout: ReadRollout; readonly report: Report | undefined }

/** Two corresponding steps. `a` or `b` is undefined if that session has no corresponding step. */
export type StepPair = {
  readonly a: ComparableStep | undefined
  readonly b: ComparableStep | undefined
  /**
   * `none`: the steps agree. `words`: only the text differs, and it isn't the final message. `results`: the same calls returned different results.
   * `calls`: different calls were made. `answer`: the final messages differ. `only-a`, `only-b`: only one of the sessions has the step.
   */
  readonly difference: 'none' | 'words' | 'results' | 'calls' | 'answer' | 'only-a' | 'only-b'
  /** Short lines that describe the differences. */
  readonly details: readonly string[]
}

/** A file that at least one of the two sessions changed. */
export type FilePair = {
  readonly path: string
  readonly difference: 'none' | 'changes' | 'only-a' | 'only-b'
  /** The lines that occur in only one of the two patches, each prefixed with `a` or `b` to say in which. */
  readonly lines: readonly string[]
}

/** The figures of one session. */
type Figures = {
  readonly id: string
  readonly model: string | undefined
  readonly steps: number
  readonly tokens: number
  readonly costUsd: number | undefined
  readonly durationMs: number | undefined
  readonly end: string
}

/** What two sessions have in common, and where they diverge. */
export type Comparison = {
  readonly figures: { readonly a: Figures; readonly b: Figures }
  /** Short lines that describe the differences between what the two models received before their first responses. Empty if there are none. */
  readonly start: readonly string[]
  readonly steps: readonly StepPair[]
  /** The first pair that differs; undefined if all pairs agree. A pair with the difference `words` counts as equal. */
  readonly divergence: StepPair | undefined
  readonly files: readonly FilePair[]
  /** Whether both sessions start, proceed and end the same way, and make the same changes. */
  readonly same: boolean
}

/** Compares two sessions step by step. */
export function compareRuns(a: ComparedRun, b: ComparedRun): Comparison {
  const start = compareStarts(a.rollout, b.rollout)
  const steps = pairSteps(comparableSteps(a.rollout), comparableSteps(b.rollout))
  const divergence = steps.find(({ difference }) => difference !== 'none' && difference !== 'words')
  const files = compareFiles(a.report, b.report)
  const same = start.length === 0 && divergence === undefined && files.every(({ difference }) => difference === 'none')
  return { figures: { a: figuresOf(a), b: figuresOf(b) }, start, steps, divergence, files, same }
}

function comparableSteps(rollout: ReadRollout): readonly ComparableStep[] {
  return stepsOf(rollout).map((step) => comparableStep(step, rollout.session.workspace))
}

/** Compares what the two models received before their first responses. */
function compareStarts(a: ReadRollout, b: ReadRollout): readonly string[] {
  const [one, other] = [a, b].map((rollout) => {
    const told = stepsOf(rollout)[0]?.told ?? rollout.original
    return told.flatMap((item) => comparableText(item, rollout.session.workspace).split('\n'))
  })
  return differingLines(one ?? [], other ?? [])
}

/** Aligns steps by what they do, so that an extra step in one session doesn't shift all later pairs. */
function pairSteps(a: readonly ComparableStep[], b: readonly ComparableStep[]): readonly StepPair[] {
  const pairs: StepPair[] = []
  const differences = diffLines(
    a.map(({ key }) => key),
    b.map(({ key }) => key),
  )
  let [atA, atB] = [0, 0]
  const equal = (until: number): void => {
    for (; atA < until; atA++, atB++) pairs.push(pairOf(a[atA], b[atB], atA === a.length - 1 || atB === b.length - 1))
  }
  for (const { aFrom, aTo, bTo } of differences) {
    equal(aFrom)
    while (atA < aTo || atB < bTo)
      pairs.push(pairOf(atA < aTo ? a[atA++] : undefined, atB < bTo ? b[atB++] : undefined, false))
  }
  equal(a.length)
  return pairs
}

function pairOf(a: ComparableStep | undefined, b: ComparableStep | undefined, isLast: boolean): StepPair {
  if (a === undefined || b === undefined)
    return { a, b, difference: b === undefined ? 'only-a' : 'only-b', details: [] }
  if (a.key !== b.key) return { a, b, difference: 'calls', details: callDetails(a, b) }
  const results = a.calls.flatMap((call, at) => resultDetails(call, b.calls[at]))
  if (results.length > 0) return { a, b, difference: 'results', details: results }
  if (a.text === b.text) return { a, b, difference: 'none', details: [] }
  const isAnswer = isLast && a.calls.length === 0
  const details = differingLines(a.text.split('\n'), b.text.split('\n'))
  return { a, b, difference: isAnswer ? 'answer' : 'words', details }
}

/** Describes how two steps differ. If both call the same tools, names the arguments that differ; otherwise, the tools that each step calls. */
function callDetails(a: ComparableStep, b: ComparableStep): readonly string[] {
  const names = (step: ComparableStep): string => step.calls.map(({ name }) => name).join(', ') || 'no call'
  if (names(a) !== names(b)) return [`a calls ${names(a)}`, `b calls ${names(b)}`]
  return a.calls.flatMap((call, at) => {
    const other = b.calls[at]
    return other === undefined ? [] : argumentDetails(call, other)
  })
}

function argumentDetails(a: ComparableCall, b: ComparableCall): readonly string[] {
  if (typeof a.input === 'string' || typeof b.input === 'string') {
    const text = (input: ComparableCall['input']): string => (typeof input === 'string' ? input : JSON.stringify(input))
    return differingLines(text(a.input).split('\n'), text(b.input).split('\n')).map((line) => `${a.name} ${line}`)
  }
  const [one, other] = [a.input, b.input]
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) => {
    const [was, is] = [one[name], other[name]].map((value) => JSON.stringify(value) ?? 'absent')
    return was === is ? [] : [`${a.name} ${name}: a ${was}`, `${a.name} ${name}: b ${is}`]
  })
}

function resultDetails(a: ComparableCall, b: ComparableCall | undefined): readonly string[] {
  if (JSON.stringify(a.result) === JSON.stringify(b?.result)) return []
  const shown = ({ result }: ComparableCall): readonly string[] => result?.output.split('\n') ?? ['(no result)']
  const lines = differingLines(shown(a), b === undefined ? [] : shown(b))
  if (a.result?.ok !== b?.result?.ok)
    return [`${a.name} ${a.result?.ok === true ? 'succeeded only in a' : 'succeeded only in b'}`, ...lines]
  return lines.map((line) => `${a.name} ${line}`)
}

/** Returns the lines that only one of two lists contains, prefixed with `a` or `b`. */
function differingLines(a: readonly string[], b: readonly string[]): readonly string[] {
  return diffLines(a, b).flatMap(({ aFrom, aTo, bFrom, bTo }) => [
    ...a.slice(aFrom, aTo).map((line) => `a ${line}`),
    ...b.slice(bFrom, bTo).map((line) => `b ${line}`),
  ])
}

/** Compares the two sessions' patches for each file. The result is a diff of diffs. */
function compareFiles(a: Report | undefined, b: Report | undefined): readonly FilePair[] {
  const [one, other] = [changesOf(a), changesOf(b)]
  return [...new Set([...one.keys(), ...other.keys()])].toSorted().map((path): FilePair => {
    const [inA, inB] = [one.get(path), other.get(path)]
    if (inA === undefined) return { path, difference: 'only-b', lines: [] }
    if (inB === undefined) return { path, difference: 'only-a', lines: [] }
    const lines = differingLines(inA, inB)
    return { path, difference: lines.length === 0 ? 'none' : 'changes', lines }
  })
}

/** Returns, for each changed file, the kind of change, followed by the lines of its diffs without the header lines. */
function changesOf(report: Report | undefined): ReadonlyMap<string, readonly string[]> {
  return new Map(
    (report?.files ?? []).map(({ path, kind, diffs }) => [
      path,
      [kind, ...diffs.flatMap(({ diff }) => withoutHeaders(diff))],
    ]),
  )
}

/** The lines of a diff without the lines before the first hunk and without those that begin a hunk. A changed line may look like a header, too. */
function withoutHeaders(diff: string): readonly string[] {
  const lines = diff.split('\n')
  const first = lines.findIndex((line) => line.startsWith('@@'))
  return first === -1 ? lines : lines.slice(first).filter((line) => !line.startsWith('@@'))
}

function figuresOf({ rollout, report }: ComparedRun): Figures {
  const { usage, costUsd, session, model, end } = rollout
  const times = report?.runs.flatMap((run) => (run.end?.durationMs === undefined ? [] : [run.end.durationMs])) ?? []
  return {
    id: session.thread_id,
    model,
    steps: stepsOf(rollout).length,
    tokens: usage.inputTokens + usage.outputTokens,
    costUsd,
    durationMs: times.length === 0 ? undefined : times.reduce((sum, time) => sum + time, 0),
    end: end?.reason ?? 'cut off',
  }
}
