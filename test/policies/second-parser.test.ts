import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { analyseScript } from '../../policies/index.ts'
import { readScript } from '../../policies/commands/walk.ts'
import type { ShellWord } from '../../policies/commands/shell-word.ts'
import { startSecondParser, type ReadCommands, type ReadWord } from '../support/second-parser.ts'
import { everydayLines } from './everyday-lines.ts'

let readBySecond: ReadCommands
beforeAll(async () => {
  readBySecond = await startSecondParser()
})

/** What the second parser gets wrong, and bash does as the first one says; in each it finds less. */
const misreadBySecond: ReadonlySet<string> = new Set([
  // Commands in a heredoc: backticks, and all of them where tabs are stripped.
  'cat <<EOF\n`rm x`\nEOF',
  'cat <<-EOF\n\t$(rm x)\n\tEOF',
  // Backticks in a default.
  'echo "a${b:-`rm x`}"',
  // A word after a redirection, and a descriptor in front of one.
  'tee < x f',
  'cat 0<.env',
])

/** A word of ours in the second parser's terms: what runs decides is not compared. */
const comparable = (word: ShellWord): ReadWord => (word.kind === 'dynamic' ? undefined : word.text)

/** Whether two readings of a command can be the same: word for word, up to the first that only running it tells. */
function agree(ours: readonly ReadWord[], theirs: readonly ReadWord[]): boolean {
  for (let at = 0; at < Math.max(ours.length, theirs.length); at++) {
    const [mine, other] = [ours[at], theirs[at]]
    if (at < ours.length && mine === undefined) return true
    if (at < theirs.length && other === undefined) return true
    if (mine !== other) return false
  }
  return true
}

type Outcome =
  | { readonly kind: 'agree' | 'unknown' | 'unread' }
  | { readonly kind: 'disagree'; readonly text: string; readonly ours: unknown; readonly theirs: unknown }

function compare(text: string): Outcome {
  const script = readScript(text, 'bash')
  // What we don't understand is asked about, so there is nothing to agree on.
  if (script.problems.length > 0 || analyseScript(text).problems.length > 0) return { kind: 'unknown' }
  const theirs = readBySecond(text)
  if (theirs === undefined) return { kind: 'unread' }
  const ours = script.commands.filter(({ words }) => words.length > 0).map(({ words }) => words.map(comparable))
  const same =
    ours.every((mine) => theirs.some((other) => agree(mine, other))) &&
    theirs.every((other) => ours.some((mine) => agree(mine, other)))
  return same ? { kind: 'agree' } : { kind: 'disagree', text, ours, theirs }
}

function tally(texts: readonly string[]) {
  const outcomes = texts.map(compare)
  const count = (kind: Outcome['kind']): number => outcomes.filter((outcome) => outcome.kind === kind).length
  return {
    disagreements: outcomes.filter((outcome) => outcome.kind === 'disagree'),
    agreed: count('agree'),
    unknown: count('unknown'),
    unread: count('unread'),
    total: texts.length,
  }
}

describe('a second parser, tree-sitter’s', () => {
  test('finds the same commands in everyday lines, and few of them are unknown', () => {
    const { disagreements, agreed, unknown, unread, total } = tally(everydayLines())
    expect(disagreements).toEqual([])
    expect(total).toBeGreaterThan(1_000)
    expect(agreed).toBeGreaterThan(0.95 * total)
    expect(unknown + unread).toBeLessThan(0.05 * total)
  })

  test('finds the same commands in those that are meant to deceive, or they are unknown', () => {
    const text = readFileSync(new URL('../../fixtures/policies/commands.jsonl', import.meta.url), 'utf8')
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { command: string }).command)
    const { disagreements } = tally(lines.filter((line) => !misreadBySecond.has(line)))
    expect(disagreements).toEqual([])
  })
})
