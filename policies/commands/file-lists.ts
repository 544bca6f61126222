import { findSensitive } from './sensitive-paths.ts'
import { secretSamples, targetsSecrets } from './secret-patterns.ts'
import { plainGlob } from './plain-glob.ts'
import { linearPattern } from './linear-pattern.ts'
import type { Place } from './place.ts'
import { literal, type FileList, type ShellWord } from './shell-word.ts'

/** Whether a pattern matches none of the typical names of files with credentials. */
function excludesSecrets(matches: (name: string) => boolean): boolean {
  return !secretSamples.some(matches)
}

/**
 * Converts a pattern in the syntax of find or git into a predicate on names. Only the part after the pattern's last slash is used. Unlike a shell's
 * wildcards, those of find and git match a leading dot and slashes.
 */
export function globTest(pattern: string): (name: string) => boolean {
  const base = plainGlob(pattern.slice(pattern.lastIndexOf('/') + 1))
  const expression = base
    .replace(/[\\^$.+()|{}]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.')
  return regexTest(`^${expression}$`)
}

/** Converts a regular expression into a predicate on names. An expression whose syntax isn't supported counts as matching every name. */
export function regexTest(source: string): (name: string) => boolean {
  const matches = linearPattern(source.replace(/\\([()|{}])/g, '$1'))
  // An unsupported expression is assumed to match every name, so it neither targets secrets in particular nor excludes them.
  return matches === undefined ? () => true : (name) => matches(name) || matches(`./${name}`)
}

/** Programs that print none of the contents of the files that they are given, or no more than a recursive search would print. */
const modest =
  /^(?:grep|egrep|fgrep|rg|wc|ls|stat|file|du|md5sum|sha1sum|sha256sum|sha512sum|cksum|basename|dirname|echo|printf|test|realpath|readlink)$/

/** The programs in `modest` that print none of a file's contents. */
const naming =
  /^(?:wc|ls|stat|file|du|md5sum|sha1sum|sha256sum|sha512sum|cksum|basename|dirname|echo|printf|test|realpath|readlink)$/

/**
 * Returns the value of `from` for a word that stands for a list of files and is passed to a program. If the program may show whole files, the result
 * is `workspace` only if files with credentials were filtered out of the list. If the shell splits the names at blanks, the result is `workspace` only
 * if the program prints none of a file's contents.
 */
export function originOfListed(list: FileList | undefined, program: string | undefined): 'workspace' | 'commands' {
  if (list === undefined || (list.split === true && !naming.test(program ?? ''))) return 'commands'
  return list.filtered || modest.test(program ?? '') ? 'workspace' : 'commands'
}

/**
 * Describes the list of names that a pipeline prints, if they are names of files below the working folder. Such a pipeline begins with a command like
 * `find .`, `git ls-files`, `rg -l` or `grep -rl` and continues with filters. Returns undefined if there is any doubt.
 */
export function listedFiles(stages: readonly (readonly ShellWord[])[], place: Place): FileList | undefined {
  const [first, ...rest] = stages
  if (first === undefined || stages.flat().some(({ kind }) => kind === 'dynamic')) return undefined
  const list = listOf(
    first.map(({ text }) => text),
    first.slice(1),
    place,
  )
  return rest.reduce<FileList | undefined>((before, stage) => {
    const narrowed = before === undefined ? undefined : filterOf(stage.map(({ text }) => text))
    return before === undefined || narrowed === undefined
      ? undefined
      : { ...before, filtered: before.filtered || narrowed }
  }, list)
}

/** Whether a filter in a pipeline lets only harmless names through. Undefined if the stage isn't a supported filter. */
function filterOf([program = '', ...args]: readonly string[]): boolean | undefined {
  const operands = args.filter((arg) => !/^[-0-9]/.test(arg))
  if (/^(?:sort|uniq|head|tail|tac)$/.test(program)) {
    return operands.length === 0 && !args.some((arg) => /^-[a-z]*[fo]|^--(?:files|output|follow)/.test(arg))
      ? false
      : undefined
  }
  if (program !== 'grep' || operands.length !== 1) return undefined
  if (args.some((arg) => arg.startsWith('-') && !/^-[viEFPqxw]+$/.test(arg))) return undefined
  if (args.some((arg) => /^-[a-zA-Z]*v/.test(arg))) return false
  const matches = regexTest(operands[0] ?? '')
  return targetsSecrets(matches) ? undefined : excludesSecrets(matches)
}

function listOf(
  [program, ...args]: readonly string[],
  words: readonly ShellWord[],
  place: Place,
): FileList | undefined {
  const operands = words.filter(({ text }) => !text.startsWith('-'))
  const roots = operands.length === 0 ? [literal('.')] : operands
  if (!roots.every((root) => place.owns(root)) || args.some((arg) => findSensitive(arg, true) !== undefined))
    return undefined
  const [root = '.'] = operands.map(({ text }) => text)
  const patterns = args.filter((arg) => /[*?]/.test(arg)).map((arg) => globTest(arg.replace(/\/$/, '')))
  if (patterns.some(targetsSecrets)) return undefined
  const filtered = patterns.length > 0 && patterns.every(excludesSecrets)
  const has = (expression: RegExp): boolean => args.some((arg) => expression.test(arg))
  const narrowed: FileList = { dotted: false, filtered }
  switch (program) {
    case 'find': {
      if (has(/^-(?:printf|regex|iregex|exec|execdir|ok|okdir)$/)) return undefined
      const isPlain = !has(/^(?:-o|-or|,|!|-not)$/)
      return { dotted: /^\.?\/|^\.$/.test(root) || root.startsWith('-'), filtered: filtered && isPlain }
    }
    case 'git':
      // The list must not contain the files that git ignores, because these often contain secrets.
      if (has(/^-[a-hj-np-z]*[oi]|^--(?:others|ignored)$/) && !has(/^--exclude-standard$/)) return undefined
      return args[0] === 'ls-files' ? narrowed : undefined
    case 'rg':
      if (has(/^(?:--hidden|-\.|-[a-z]*u)/)) return undefined
      return has(/^(?:-[a-z]*l|--files|--files-with-matches)$/) ? narrowed : undefined
    case 'grep':
      return has(/^(?:-[A-Za-km-z]*l[A-Za-z]*|--files-with-matches)$/) ? narrowed : undefined
    case 'fd':
    case 'ls':
      return has(/^-[A-Za-z]*[lAaHu]|^--(?:all|almost-all|hidden|unrestricted)/) ? undefined : narrowed
    default:
      return undefined
  }
}
