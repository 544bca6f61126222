import { resolve } from 'node:path'
import type { AnalysedCommand } from '../commands/analyse.ts'
import type { ShellWord } from '../commands/shell-word.ts'
import type { Opinion } from '../opinion.ts'
import { absolutePath } from './path-pattern.ts'
import { describePermission, type PathPermission, type PermissionSet } from './permission.ts'

/** Matches the git subcommands and options that show the contents of files, whatever the names of these files are. */
const showing =
  /^(?:show|diff|diff-\w+|range-diff|whatchanged|grep|cat-file|blame|annotate|archive|checkout-index|-p|-u|--patch|-L.*|-[SG].*)$/

/**
 * Judges a command that may reach restricted files without clearly naming them: through a pattern, a folder, git, code, or the arguments of a program
 * that does more than read. A sandbox would enforce the permissions. Without one, such a command requires approval.
 */
export function judgeReach(
  command: AnalysedCommand,
  folders: readonly string[],
  permissions: PermissionSet,
): readonly Opinion[] {
  const restricting = permissions.paths.filter(({ decision }) => decision !== 'allow')
  if (restricting.length === 0) return []
  const [anything] = restricting
  if (anything !== undefined && isGivenCode(command)) {
    const reason = `The code that this command runs may reach what the permission ${anything.text} restricts.`
    return [{ decision: 'ask', stage: 'permissions', reason, rule: describePermission(anything) }]
  }
  const { read, patterns, touched } = placesOf(command)
  // Places are resolved once, even if they are compared with many permissions.
  const inFolders = (named: readonly string[]): readonly Place[] =>
    [...new Set(named)].flatMap((text) =>
      folders.map((folder) => {
        const path = absolutePath(text, folder)
        return { text, path, lower: resolve(path).toLowerCase(), folder }
      }),
    )
  const [looked, named, reached] = [inFolders(read), inFolders(patterns), inFolders(touched)]
  return restricting.flatMap((permission): readonly Opinion[] => {
    const place =
      (permission.access === 'read' ? looked : []).find((one) => meets(permission, one, false)) ??
      (permission.access === 'read' ? named : []).find(({ path, folder }) =>
        permission.pattern.mayMeet(path, folder),
      ) ??
      reached.find((one) => meets(permission, one, true))
    if (place === undefined) return []
    const reason = `Through ${place.text}, the command may reach what the permission ${permission.text} restricts.`
    return [{ decision: 'ask', stage: 'permissions', reason, rule: describePermission(permission) }]
  })
}

/** Programs that run code from an argument or from their input. */
const interpreter =
  /^(?:python[\d.]*|pypy[\d.]*|node(?:js)?|deno|bun|tsx|ts-node|ruby|perl|php|lua|java|jshell|osascript|swift)$/
/** Options whose value is code or a command to run. */
const givingCode = /^(?:-c|--call|--eval)(?:=|$)/

/** Whether a program runs text from the command line as code. Such code is not analysed here. */
function isGivenCode({ words: [program, ...args], facts, texts }: AnalysedCommand): boolean {
  if (!facts.some(({ class: kind }) => kind === 'runs-code')) return false
  const given = args.map(({ text }) => text)
  const isInterpreter = interpreter.test((program?.text ?? '').replace(/^.*\//, ''))
  const mayBeCode = [...(isInterpreter ? given : []), ...texts].some((text) => /[\s;|&()`'"<>{}[\]]/.test(text))
  return mayBeCode || given.some((text) => givingCode.test(text))
}

/** A path that a command may reach. `lower`: the normalized path in lower case. */
type Place = { readonly text: string; readonly path: string; readonly lower: string; readonly folder: string }

/**
 * Returns the places that a command may reach. `read`: paths that it may read without naming them. `touched`: paths that its arguments may name, if it does
 * more than read.
 */
function placesOf({ words, facts, around, reads, trees }: AnalysedCommand): {
  readonly read: readonly string[]
  /** Shell patterns for files that the command reads. */
  readonly patterns: readonly string[]
  readonly touched: readonly string[]
} {
  const [program, ...args] = words
  const unnamed = reads.filter(({ kind }) => kind === 'dynamic')
  const shows = program?.text === 'git' && args.some(({ text }) => showing.test(text))
  const read = [...unnamed.map(folderOf), ...trees.map(folderOf), ...(shows ? ['.'] : [])]
  const onlyReads = [...facts, ...around].every((fact) => fact.class === 'read-only')
  const patterns = reads.flatMap(({ kind, text }) => (kind === 'glob' ? [text] : []))
  return { read, patterns, touched: onlyReads ? [] : args.flatMap(namedBy) }
}

/** Returns the text of a word if all of it is known, and otherwise the folder that its known beginning names. */
function folderOf(word: ShellWord): string {
  if (word.kind === 'static') return word.text
  const text = word.kind === 'glob' ? (/^[^*?[]*/.exec(word.text)?.[0] ?? '') : word.prefix
  return text.slice(0, text.lastIndexOf('/') + 1) || '.'
}

/** The paths that an argument may mean: all of it, and what follows a short option, an equals sign, the `@` of an upload, or a host name and its colon. */
function namedBy(word: ShellWord): readonly string[] {
  if (word.kind !== 'static') return [folderOf(word)]
  const behind = /^(?:-\w)?@?(?:[^=:@]*[=:@])?@?(?:\/\/)?(.*)$/.exec(word.text)?.[1] ?? ''
  return [word.text, behind, word.text.replace(/^-\w/, '')].filter((name) => name !== '')
}

/**
 * Whether a place is a file that a permission may match, or may contain such a file. An argument that merely names a path in the pattern's folder
 * doesn't count if the pattern may match a file anywhere.
 */
function meets({ pattern }: PathPermission, { path, lower, folder }: Place, isNamed: boolean): boolean {
  if (pattern.matches(path, folder, true)) return true
  const outer = pattern.base(folder).toLowerCase()
  return within(outer, lower) || (within(lower, outer) && !(isNamed && pattern.isAnywhere))
}

function within(path: string, folder: string): boolean {
  return (
    path.startsWith(folder) && (path.length === folder.length || folder.endsWith('/') || path[folder.length] === '/')
  )
}
