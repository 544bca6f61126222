import { dollars, seconds, short } from '../../display/format-values.ts'
import { escapeInvisibleInLine } from '../../core/text/escape-invisible.ts'
import type { ComparableStep } from './comparable.ts'
import type { Comparison, FilePair, StepPair } from './compare-runs.ts'
import { counted } from '../../core/text/counted.ts'

const signs: Readonly<Record<StepPair['difference'], string>> = {
  none: '=',
  words: '=',
  results: '≠',
  calls: '≠',
  answer: '≠',
  'only-a': '<',
  'only-b': '>',
}

const partings: Readonly<Record<StepPair['difference'], string>> = {
  none: 'the steps agree',
  words: 'the steps agree',
  results: 'the same calls return different results',
  calls: 'the calls differ',
  answer: 'the final messages differ',
  'only-a': 'only a has this step',
  'only-b': 'only b has this step',
}

/** The maximum number of lines that show one difference. */
const mostDetails = 20

/** Renders a comparison as text for a terminal of the given width. Ends with a line feed. */
export function renderComparison(comparison: Comparison, columns: number): string {
  const { figures, start, steps, divergence, files } = comparison
  const agreeing = steps.filter(({ difference }) => difference === 'none' || difference === 'words').length
  const changed = files.filter(({ difference }) => difference !== 'none')
  return [
    describeFigures('a', figures.a),
    describeFigures('b', figures.b),
    '',
    ...(start.length === 0 ? ['start: the same'] : ['start: not the same', ...detailed(start, '  ')]),
    `steps: ${agreeing} of ${steps.length} agree${divergence === undefined ? '' : `; the first that doesn't is ${placeOf(divergence)}: ${partings[divergence.difference]}`}`,
    ...(divergence === undefined ? [] : detailed(divergence.details, '  ')),
    ...sideBySide(steps, columns),
    changed.length === 0
      ? `changes: the same in a and b, ${counted(files.length, 'file')}`
      : `changes: ${changed.length} of ${counted(files.length, 'file')} ${changed.length === 1 ? 'differs' : 'differ'}`,
    ...changed.flatMap(describeFile),
    '',
  ].join('\n')
}

function describeFigures(name: string, figures: Comparison['figures']['a']): string {
  const { id, model, steps, tokens, costUsd, durationMs, end } = figures
  const time = durationMs === undefined ? [] : [seconds(durationMs)]
  const words = [`${steps} steps`, `${short(tokens)} tokens`, dollars(costUsd), ...time, end]
  return safe(`${name}  ${id}  ${[...(model === undefined ? [] : [model]), ...words].join(' · ')}`)
}

function placeOf({ a, b }: StepPair): string {
  if (a !== undefined && b !== undefined && a.number !== b.number) return `step ${a.number} of a, ${b.number} of b`
  return `step ${a?.number ?? b?.number ?? 0}`
}

function sideBySide(steps: readonly StepPair[], columns: number): readonly string[] {
  const width = Math.max(20, Math.floor((columns - 7) / 2))
  const cell = (step: ComparableStep | undefined): string => fit(step === undefined ? '' : describeStep(step), width)
  return ['', ...steps.map(({ a, b, difference }) => `${signs[difference]} ${cell(a)} │ ${cell(b).trimEnd()}`), '']
}

function describeStep({ number, calls, text }: ComparableStep): string {
  const done = calls.map(({ name, input }) => {
    const first = typeof input === 'string' ? input : Object.values(input).find((value) => typeof value === 'string')
    return `${name} ${typeof first === 'string' ? first : ''}`
  })
  return `${number} ${done.length === 0 ? text : done.join(' + ')}`
}

function describeFile({ path, difference, lines }: FilePair): readonly string[] {
  const only = difference === 'only-a' ? '  changed only in a' : difference === 'only-b' ? '  changed only in b' : ''
  return [safe(`  ${path}${only}`), ...detailed(lines, '    ')]
}

function detailed(lines: readonly string[], indent: string): readonly string[] {
  const shown = lines.slice(0, mostDetails).map((line) => `${indent}${safe(clip(line, 200))}`)
  return lines.length > mostDetails
    ? [...shown, `${indent}… ${counted(lines.length - mostDetails, 'more line')}`]
    : shown
}

function fit(text: string, width: number): string {
  return clip(safe(text.replaceAll(/\s+/g, ' ')), width).padEnd(width)
}

function clip(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`
}

/** Escapes control characters, so that text from a model can't control the reader's terminal. */
function safe(text: string): string {
  return escapeInvisibleInLine(text)
}

/** Renders a comparison for programs, as one line of JSON. */
export function comparisonAsJson({ figures, start, steps, divergence, files, same }: Comparison): string {
  const pair = ({ a, b, difference, details }: StepPair): object => ({
    a: a?.number ?? null,
    b: b?.number ?? null,
    difference,
    details,
  })
  const side = ({ id, model, steps: count, tokens, costUsd, durationMs, end }: Comparison['figures']['a']): object => ({
    session: id,
    model: model ?? null,
    steps: count,
    tokens,
    cost_usd: costUsd ?? null,
    duration_ms: durationMs ?? null,
    end,
  })
  const value = {
    same,
    a: side(figures.a),
    b: side(figures.b),
    start,
    divergence: divergence === undefined ? null : pair(divergence),
    steps: steps.map(pair),
    files,
  }
  return `${JSON.stringify(value)}\n`
}
