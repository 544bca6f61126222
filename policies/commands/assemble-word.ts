import { countOfBraces, expandBraces } from './braces.ts'
import { listedFiles } from './file-lists.ts'
import type { Place } from './place.ts'
import type { FileList, ShellWord, WordChoice } from './shell-word.ts'
import type { Variables } from './variables.ts'

/** Where the value of an expansion comes from. */
type Origin = Extract<ShellWord, { kind: 'dynamic' }>['from']

/** A part of a word, interpreted as far as possible without the adjacent parts. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string; readonly quoted: boolean }
  | { readonly kind: 'glob'; readonly text: string }
  /** `from`: where the values of the expansions between the braces come from. */
  | { readonly kind: 'braces'; readonly text: string; readonly from: Origin }
  | { readonly kind: 'variable'; readonly name: string; readonly quoted: boolean }
  | {
      readonly kind: 'output'
      readonly quoted: boolean
      readonly single: boolean
      readonly from: Origin
      readonly listed?: FileList
    }

type AssembleContext = {
  readonly variables: Variables
  readonly place: () => Place
  readonly plainShell: boolean
  readonly problem: (reason: string) => void
}

/** The maximum number of words that brace expansions may produce. */
const mostMade = 10_000
const mostChoices = 32
/**
 * The maximum length of a word, in characters, after its variables are expanded. A limit is needed because each variable may contain the previous one
 * twice, which doubles the length.
 */
const longestMade = 8 * 1024

/**
 * Returns the words to which the pieces of a word expand: one for every alternative of its braces, or a choice between the possible values of its
 * variables. If these can't be listed, the result is a single dynamic word.
 */
export function assemble(
  pieces: readonly Piece[],
  source: string,
  context: AssembleContext,
): readonly (ShellWord | WordChoice)[] {
  const braces = pieces.flatMap((piece) => (piece.kind === 'braces' ? [countOfBraces(piece.text)] : []))
  if (braces.reduce((product, count) => product * count, 1) > mostMade)
    context.problem(`${source} expands to too many words`)
  let words: readonly Fragment[] = [{ text: '', glob: false }]
  const several: string[] = []
  for (const [at, piece] of pieces.entries()) {
    switch (piece.kind) {
      case 'text':
        words = words.map((word) => ({ ...word, text: word.text + piece.text }))
        break
      case 'glob':
        words = words.map((word) => ({ text: word.text + piece.text, glob: true }))
        break
      case 'braces': {
        const expanded = expandBraces(piece.text)
        if (expanded === undefined || context.plainShell || several.length > 0 || words.length > 1) {
          return [dynamic(source, words, false, worstOrigin(pieces, context.variables))]
        }
        several.push(...expanded)
        if (pieces.slice(at + 1).some(({ kind }) => kind === 'variable' || kind === 'output' || kind === 'braces')) {
          return [dynamic(source, words, false, worstOrigin(pieces, context.variables))]
        }
        words = expanded.map((text) => ({ text: (words[0]?.text ?? '') + text, glob: words[0]?.glob ?? false }))
        break
      }
      case 'output':
        return [
          {
            ...dynamic(source, words, piece.single, piece.from),
            ...(piece.listed === undefined ? {} : { listed: piece.listed }),
          },
        ]
      case 'variable': {
        const values = context.variables.valuesOf(piece.name)
        const from = context.variables.isFromEnvironment(piece.name) ? 'environment' : 'commands'
        const splits = values?.some(
          (value) => !piece.quoted && value.kind === 'static' && /[\s*?[\]\\]|^$/.test(value.text),
        )
        const mayMove = context.variables.moves && (piece.name === 'PWD' || piece.name === 'OLDPWD')
        // With another IFS, the shell splits values at characters that are usually part of a word.
        if (!piece.quoted && (mayMove || context.variables.splitsElsewhere))
          return [dynamic(source, words, false, from)]
        // A value that is a pattern stands for the names of the files that match. Such a name may contain blanks, at which the shell splits the value.
        if (!piece.quoted && values?.some(({ kind }) => kind === 'glob') === true) {
          const list = { dotted: false, filtered: false, split: true } as const
          return [
            {
              ...dynamic(source, words, false, from),
              ...(values.every((value) => context.place().owns(value)) ? { listed: list } : {}),
            },
          ]
        }
        if (values === undefined || splits === true || words.length * values.length > mostChoices) {
          const filled = context.variables.isAssigned(piece.name) ? { filled: true as const } : {}
          return [{ ...dynamic(source, words, piece.quoted, from), ...filled }]
        }
        if (longest(words) + longest(values) > longestMade) return [dynamic(source, words, piece.quoted, from)]
        words = words.flatMap((word) =>
          values.map((value) => ({ text: word.text + value.text, glob: word.glob || value.kind === 'glob' })),
        )
        break
      }
      default:
        return [dynamic(source, words, false, (piece satisfies never) ?? 'environment')]
    }
  }
  const made = words.map(({ text, glob }): ShellWord => ({ kind: glob ? 'glob' : 'static', text }))
  if (several.length > 0 || made.length <= 1) return made
  return [{ kind: 'either', text: source, choices: made }]
}

/** The origin of a word that combines several values: the environment if one of the values may come from it. */
export function worstOrigin(pieces: readonly Piece[], variables: Variables): Origin {
  const isSecret = (piece: Piece): boolean =>
    piece.kind === 'variable'
      ? variables.isFromEnvironment(piece.name)
      : 'from' in piece && piece.from === 'environment'
  return pieces.some(isSecret) ? 'environment' : 'commands'
}

type Fragment = { readonly text: string; readonly glob: boolean }

function longest(words: readonly { readonly text: string }[]): number {
  return words.reduce((most, { text }) => Math.max(most, text.length), 0)
}

function dynamic(text: string, words: readonly Fragment[], single: boolean, from: Origin): ShellWord {
  const [first] = words
  const prefix = words.length === 1 && first !== undefined && !first.glob ? first.text : ''
  return { kind: 'dynamic', text, prefix, single, from }
}

/**
 * The piece that replaces a substitution. The piece is more specific if the commands are known to print only the working folder or the repository's
 * root, or only names of files below the working folder.
 */
export function outputOf(
  stages: readonly (readonly ShellWord[])[] | undefined,
  quoted: boolean,
  { variables, place }: Pick<AssembleContext, 'variables' | 'place'>,
): Piece {
  const output: Piece = { kind: 'output', quoted, single: quoted, from: 'commands' }
  if (stages === undefined) return output
  const line = stages
    .map((words) => words.map(({ kind, text }) => (kind === 'static' ? text : '\0')).join(' '))
    .join('|')
  if ((line === 'pwd' || line === 'git rev-parse --show-toplevel') && (quoted || !variables.moves))
    return { kind: 'text', text: '.', quoted: true }
  if (/^mktemp(?: -[dqu]+)*$/.test(line)) return { kind: 'text', text: '/tmp/tmp.mktemp', quoted: true }
  const listed = listedFiles(stages, place())
  return listed === undefined ? output : { ...output, listed }
}
