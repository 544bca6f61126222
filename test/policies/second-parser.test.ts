import { isDeepStrictEqual } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { analyseScript } from '../../policies/index.ts'
import { readScript } from '../../policies/commands/read-script.ts'
import type { ShellWord } from '../../policies/commands/shell-word.ts'
import { scanShell } from '../../policies/commands/tokens/scan-shell.ts'
import { testUnlessOnCi } from '../support/needs.ts'
import {
  startSecondParser,
  whyNoSecondParser,
  type ReadCommands,
  type ReadWord,
  type SecondReading,
} from '../support/second-parser.ts'
import { readByBash } from '../support/bash-reading.ts'
import { corpus } from './corpus.ts'
import { everydayLines } from './everyday-lines.ts'

let readBySecond: ReadCommands
const whyNot = whyNoSecondParser()
beforeAll(async () => {
  if (whyNot === undefined) readBySecond = await startSecondParser()
})

/**
 * Texts that the second parser misreads, while bash agrees with our parser. In each of them, the second parser misses a part that bash and our parser
 * find.
 */
const misreadBySecond: ReadonlySet<string> = new Set([
  // Command substitutions in a heredoc: those in backticks, and all of them if tabs are stripped.
  'cat <<EOF\n`rm x`\nEOF',
  'cat <<-EOF\n\t$(rm x)\n\tEOF',
  // Backticks in a default value.
  'echo "a${b:-`rm x`}"',
  // A word after a redirection, and a descriptor in front of a redirection.
  'tee < x f',
  'cat 0<.env',
])

/**
 * A word as our parser reads it, in the second parser's form. `undefined` for a word that is known only at run time, because it can't be compared.
 */
const comparable = (word: ShellWord): ReadWord => (word.kind === 'dynamic' ? undefined : word.text)

/** Whether two readings of a command can be the same: word for word, up to the first word that is known only at run time. */
function agree(ours: readonly ReadWord[], theirs: readonly ReadWord[]): boolean {
  for (let at = 0; at < Math.max(ours.length, theirs.length); at++) {
    const [mine, other] = [ours[at], theirs[at]]
    if (at < ours.length && mine === undefined) return true
    if (at < theirs.length && other === undefined) return true
    if (mine !== other) return false
  }
  return true
}

const redirecting = /^(?:[<>]|>>|<<-?|<<<|<>|>\||[<>]&|&>>?)$/

/** The positions of substitutions and the number of redirections, as our tokenizer finds them. */
function partsOf(text: string): Pick<SecondReading, 'substitutions' | 'redirections'> {
  const scan = scanShell(text, 'bash')
  const tokens = scan.ok ? scan.tokens : []
  const substitutions = tokens.filter(({ kind }) => kind === 'command' || kind === 'process').map(({ pos }) => pos)
  const redirections = tokens.filter((token) => token.kind === 'structure' && redirecting.test(token.text ?? ''))
  return { substitutions: substitutions.toSorted((a, b) => a - b), redirections: redirections.length }
}

type Outcome =
  | { readonly kind: 'agree' | 'unknown' | 'unread' }
  | { readonly kind: 'disagree'; readonly text: string; readonly ours: unknown; readonly theirs: unknown }

function compare(text: string): Outcome {
  const script = readScript(text, 'bash')
  // If a text isn't fully understood, nothing is allowed because of how it was read, so there is nothing to compare.
  if (script.problems.length > 0 || analyseScript(text).problems.length > 0) return { kind: 'unknown' }
  const theirs = readBySecond(text)
  if (theirs === undefined) return { kind: 'unread' }
  const commands = script.commands.filter(({ words }) => words.length > 0).map(({ words }) => words.map(comparable))
  const ours = { commands, ...partsOf(text) }
  const same =
    commands.every((mine) => theirs.commands.some((other) => agree(mine, other))) &&
    theirs.commands.every((other) => commands.some((mine) => agree(mine, other))) &&
    isDeepStrictEqual(ours.substitutions, theirs.substitutions) &&
    ours.redirections === theirs.redirections
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

const bySecond = testUnlessOnCi(whyNot)
describe('a second parser, tree-sitter', () => {
  bySecond('finds the same commands in everyday lines, few of which are unknown', () => {
    const { disagreements, agreed, unknown, unread, total } = tally(everydayLines())
    expect(disagreements).toEqual([])
    expect(total).toBeGreaterThan(1_000)
    expect(agreed).toBeGreaterThan(0.95 * total)
    expect(unknown + unread).toBeLessThan(0.05 * total)
  })

  bySecond('finds the same in the whole corpus, including deceptive lines, or they are unknown', () => {
    const { disagreements } = tally(corpus().filter((line) => !misreadBySecond.has(line)))
    expect(disagreements).toEqual([])
  })

  bySecond('is listed as different only if it still finds something else', () => {
    expect([...misreadBySecond].filter((line) => compare(line).kind !== 'disagree')).toEqual([])
  })
})

describe('bash itself, whose parsed text is printed and parsed again', () => {
  const texts = corpus().filter((text) => !text.includes('\0'))
  const shown = readByBash(texts)
  const isKnown = (text: string): boolean =>
    readScript(text, 'bash').problems.length === 0 && analyseScript(text).problems.length === 0
  const read = (text: string): readonly string[] =>
    readScript(text, 'bash')
      .commands.map(({ words, redirections }) =>
        JSON.stringify([words.map(comparable), redirections.map(({ target }) => comparable(target))]),
      )
      .toSorted()

  test('accepts every line that is not unknown', () => {
    expect(texts.filter((text, at) => shown[at] === undefined && isKnown(text))).toEqual([])
  })

  test('has the same commands, words and redirections, or they are unknown', () => {
    const different = texts.flatMap((text, at) => {
      const other = shown[at]
      if (other === undefined || !isKnown(text)) return []
      const [ours, theirs] = [read(text), read(other)]
      return isDeepStrictEqual(ours, theirs) ? [] : [{ text, ours, theirs }]
    })
    expect(different).toEqual([])
    expect(texts.filter(isKnown).length).toBeGreaterThan(2_000)
  })
})
