import { countChecks } from '../run/judge/test-text.ts'
import { partOf } from '../run/judge/judge-parts.ts'
import type { ReportedFinding } from './findings-schema.ts'
import type { DiffFile, DiffLine } from './parse-diff.ts'

/** What a finding says: its severity, its title and why it matters. */
type Saying = Pick<ReportedFinding, 'severity' | 'title' | 'body'>

/**
 * Finds where a change makes tests weaker, or changes what runs them, from its text alone: tests that are gone or switched off, and expectations that are gone.
 * Whether results got worse only `--verify` can say.
 */
export function weakerTests(files: readonly DiffFile[]): readonly ReportedFinding[] {
  const added = new Set(files.flatMap((file) => linesOf(file, '+').flatMap(({ text }) => nameOfTest(text) ?? [])))
  return files.flatMap((file) => {
    const part = partOf(file.path, { hasTests: no, isProtected: no, isReached: no, exists: no })
    if (part === 'config') return file.kind === 'add' ? [] : findingAt(file, anyLine, configured)
    if (part === 'manifest') return findingAt(file, ({ text, mark }) => mark !== ' ' && isTestScript(text), configured)
    return part === 'test' ? inTests(file, added) : []
  })
}

const no = (): boolean => false
const anyLine = ({ mark }: DiffLine): boolean => mark !== ' '

/** Whether a line of a manifest is a script whose name says that it tests, or begins the settings of a runner. */
function isTestScript(text: string): boolean {
  const [, key] = text.split('"')
  const runs = key !== undefined && (key.includes('test') || ['jest', 'mocha', 'ava'].includes(key))
  return (runs && text.trim().startsWith('"')) || text.startsWith('[tool.pytest')
}

function inTests(file: DiffFile, added: ReadonlySet<string>): readonly ReportedFinding[] {
  const isGone = ({ mark, text }: DiffLine): boolean => {
    const name = mark === '-' ? nameOfTest(text) : undefined
    return name !== undefined && !added.has(name)
  }
  const gone = linesOf(file, '-')
    .filter(isGone)
    .flatMap(({ text }) => nameOfTest(text) ?? [])
  const off = linesOf(file, '+').filter(({ text }) => isOff(text))
  const checks = (mark: '+' | '-'): number =>
    countChecks(
      linesOf(file, mark)
        .map(({ text }) => text)
        .join('\n'),
    )
  const [before, after] = [checks('-'), checks('+')]
  return [
    ...(gone.length === 0 ? [] : findingAt(file, isGone, removed(gone))),
    ...off.flatMap((line) => findingAt(file, (each) => each === line, switchedOff(line.text.trim()))),
    ...(gone.length > 0 || before <= after ? [] : findingAt(file, isExpected, fewer)),
  ]
}

const starts = ['test', 'it', 'describe', 'suite'].flatMap((name) => [`${name}(`, `${name}.`])
const named = [/^(?:async )?def (test\w*)/, /^func (Test\w*)/]

/** The name of the test that a line declares. */
function nameOfTest(line: string): string | undefined {
  const text = line.trim()
  const quote = starts.some((start) => text.startsWith(start)) ? /['"`]/.exec(text)?.[0] : undefined
  if (quote !== undefined) return text.split(quote)[1]
  return named.map((pattern) => pattern.exec(text)?.[1]).find((name) => name !== undefined)
}

/** What says that a test doesn't run or may fail, in front of or in its declaration, or as a call in it. */
const offMarks = [
  /[.](?:skip|skipIf|skipif|todo|only|fails|failing|xfail|Skip|Skipf|SkipNow|runIf)\b/,
  /^(?:xit|xtest|xdescribe|fit|fdescribe)\(/,
  /#\[ignore/,
  /\b(?:skip|todo|only|expectFailure): [^f]/,
]

function isOff(line: string): boolean {
  const text = line.trim()
  return !['//', '# ', '*'].some((start) => text.startsWith(start)) && offMarks.some((mark) => mark.test(text))
}

const isExpected = ({ mark, text }: DiffLine): boolean => mark === '-' && countChecks(text) > 0

function linesOf({ hunks }: DiffFile, mark: DiffLine['mark']): readonly DiffLine[] {
  return hunks.flatMap(({ lines }) => lines).filter((line) => line.mark === mark)
}

/** A finding at the first line that matches. A removed line has no number of its own, so the next line that is there stands for it. */
function findingAt(file: DiffFile, isMeant: (line: DiffLine) => boolean, saying: Saying): readonly ReportedFinding[] {
  const lines = file.hunks.flatMap((hunk) => hunk.lines)
  const found = lines.find(isMeant)
  if (found === undefined) return []
  const shown = lines.filter(({ mark }) => file.kind === 'delete' || mark !== '-').map((line) => numberOf(file, line))
  const wanted = numberOf(file, found)
  const at = shown.find((number) => number >= wanted) ?? shown.at(-1)
  if (at === undefined) return []
  return [
    { path: file.path, start_line: at, end_line: at, category: 'tests', confidence: 0.6, suggestion: null, ...saying },
  ]
}

function numberOf({ kind }: DiffFile, { oldLine, newLine }: DiffLine): number {
  return kind === 'delete' ? oldLine : newLine
}

const checked = 'Found from the text of the change, without a model. `agent exec --verify` would compare results.'

function removed(names: readonly string[]): Saying {
  const list = names.slice(0, 20).map((name) => `\`${name.replaceAll('`', "'")}\``)
  const more = names.length > 20 ? ` and ${names.length - 20} more` : ''
  return {
    severity: 'medium',
    title: names.length === 1 ? 'A test is gone' : `${names.length} tests are gone`,
    body: `No test with this name is added elsewhere in the change: ${list.join(', ')}${more}. ${checked}`,
  }
}

function switchedOff(line: string): Saying {
  const text = line.slice(0, 200).replaceAll('`', "'")
  return {
    severity: 'medium',
    title: 'A test is skipped, expected to fail, or run alone',
    body: `\`${text}\`. ${checked}`,
  }
}

const fewer: Saying = {
  severity: 'low',
  title: 'Tests check less than before',
  body: `The change removes more checks than it adds in this file. ${checked}`,
}

const configured: Saying = {
  severity: 'low',
  title: 'What runs the tests is changed',
  body: `This file, or this part of it, decides what the tests are and how they run. ${checked}`,
}
