import type { Location, Place } from './place.ts'
import type { ShellWord } from './shell-word.ts'

/** The folders in which a shell may be working at one point of a text, the ones before (`cd -`), and those that `pushd` stored; none of them if this point is never reached. */
export type Whereabouts = {
  readonly here: readonly Location[]
  readonly before: readonly Location[]
  /** Undefined if it isn't known what `pushd` stored. */
  readonly stack: readonly (readonly Location[])[] | undefined
}

/** The maximum number of folders to follow. If there may be more, the folder counts as unknown. */
const mostFolders = 16

const nowhere: Whereabouts = { here: [], before: [], stack: undefined }
/** Any folder at all. */
export const anywhere: Whereabouts = { here: [undefined], before: [undefined], stack: undefined }

function union(a: readonly Location[], b: readonly Location[]): readonly Location[] {
  const all = [...new Set([...a, ...b])]
  return all.length > mostFolders ? [undefined] : all
}

/** What may be the case at a point that can be reached in several ways. */
export function either(...ways: readonly Whereabouts[]): Whereabouts {
  return ways.reduce((a, b) => {
    if (a.here.length === 0) return b
    if (b.here.length === 0) return a
    return { here: union(a.here, b.here), before: union(a.before, b.before), stack: eitherStack(a.stack, b.stack) }
  }, nowhere)
}

/** Of stacks with different lengths, any folder may be at any place. */
function eitherStack(a: Whereabouts['stack'], b: Whereabouts['stack']): Whereabouts['stack'] {
  if (a === undefined || b === undefined) return undefined
  if (a.length === b.length) return a.map((one, at) => union(one, b[at] ?? [undefined]))
  const all = [...a, ...b].reduce(union, [])
  return (a.length > b.length ? a : b).map(() => all)
}

/** Names whose values decide where `cd` goes. If a line assigns one of them, it isn't known where. */
const deciding = { home: ['HOME'], back: ['OLDPWD', 'PWD'], search: ['CDPATH'], stack: ['DIRSTACK'] } as const

/**
 * Where a shell is after a command that changes its folder. Undefined for any other command.
 *
 * @param assigned tells whether the line assigns a value to a variable
 */
export function moved(
  words: readonly ShellWord[],
  { here, before, stack }: Whereabouts,
  place: Place,
  assigned: (name: string) => boolean,
): Whereabouts | undefined {
  const start = words.findIndex(
    ({ text }, at) => !/^(?:command|builtin)$/.test(text) && (at === 0 || !/^-p$|^--$/.test(text)),
  )
  const [program, ...args] = words.slice(Math.max(0, start))
  if (program === undefined) return undefined
  if (program.kind !== 'static') return anywhere
  const name = program.text
  if (name === 'eval') return args.every((word) => isStill(word)) ? undefined : anywhere
  if (name === 'exit') return nowhere
  if (!/^(?:cd|chdir|pushd|popd)$/.test(name)) return undefined
  const isSet = (names: readonly string[]): boolean => names.some(assigned)
  const operands = args.filter(({ text }) => !/^-[A-Za-z@]+$|^--$/.test(text))
  const [target] = operands
  const rest = isSet(deciding.stack) || args.some(({ text }) => text === '-n') ? undefined : stack
  const back = isSet(deciding.back) ? [undefined] : before
  const go = (to: readonly Location[], kept: Whereabouts['stack'] = rest): Whereabouts => ({
    here: to.length === 0 ? [undefined] : to.reduce<readonly Location[]>((all, one) => union(all, [one]), []),
    before: here,
    stack: kept,
  })
  if (operands.length > 1 || args.some(({ text }) => text === '-n') || /^[-+][0-9]/.test(target?.text ?? ''))
    return go([undefined], undefined)
  if (name === 'popd')
    return target === undefined ? go(rest?.[0] ?? [undefined], rest?.slice(1)) : go([undefined], undefined)
  const pushed = rest === undefined ? undefined : [here, ...rest]
  const kept = name === 'pushd' ? pushed : rest
  if (target === undefined) {
    if (name !== 'pushd') return go(isSet(deciding.home) ? [undefined] : place.locations('~'))
    return go(rest?.[0] ?? [undefined], rest === undefined ? undefined : [here, ...rest.slice(1)])
  }
  if (target.text === '-') return go(back, kept)
  if (isSet(deciding.search) || isSet(deciding.home)) return go([undefined], kept)
  const path = target.kind === 'dynamic' ? knownPart(target) : target.text
  return go(path === undefined ? [undefined] : here.map((folder) => place.locate(folder, path)), kept)
}

/** The path of a folder below one whose name is known. Undefined if not even that is known. */
function knownPart({ prefix }: Extract<ShellWord, { kind: 'dynamic' }>): string | undefined {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  return /\w/.test(folder) ? `${folder}unknown` : undefined
}

/** Whether a text that is run certainly doesn't change the folder. */
function isStill(word: ShellWord): boolean {
  return word.kind === 'static' && !/\b(?:cd|chdir|pushd|popd|eval|source)\b|(?:^|[\s;&|])\.\s/.test(word.text)
}
