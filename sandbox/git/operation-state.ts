import { decodeText, encodeText } from '../path-bytes.ts'
import { withoutUserinfo } from './config-clean.ts'
import { holdGit, type GitDirectories } from './git-directories.ts'
import type { HeldDirectory } from './held-directory.ts'
import { isOid, isRefName } from './refs.ts'

/**
 * The rule for a file in which git keeps the state of an operation in progress. It returns the content to import, or undefined if the file must not
 * be imported.
 */
type Rule = (text: string, oidBytes: number) => string | undefined

const largestState = 16 * 1024 * 1024

/**
 * Directories in a work tree's git directory whose files describe an operation in progress or, in `info`, which files are checked out. Each
 * directory's function returns the rule for the file of a given name; undefined if the file must not be imported.
 */
const directories: Readonly<Record<string, (name: string) => Rule | undefined>> = {
  'rebase-merge': (name) => rebaseFile(name),
  'rebase-apply': (name) => rebaseFile(name),
  sequencer: (name) => ({ todo: todoList, head: oids, 'abort-safety': optionalOid })[name],
  'refs/bisect': (name) => (isRefName(`refs/bisect/${name}`) ? oids : undefined),
  info: (name) => (name === 'sparse-checkout' ? plainText : undefined),
}

const files: Readonly<Record<string, Rule>> = {
  ORIG_HEAD: oids,
  MERGE_HEAD: oids,
  CHERRY_PICK_HEAD: oids,
  REVERT_HEAD: oids,
  REBASE_HEAD: oids,
  AUTO_MERGE: oids,
  MERGE_MSG: plainText,
  SQUASH_MSG: plainText,
  COMMIT_EDITMSG: plainText,
  MERGE_MODE: (text) => (/^(?:no-ff|ff-only)?\n?$/.test(text) ? text : undefined),
  FETCH_HEAD: (text, oidBytes) => withoutUserinfo(plainLines(text, new RegExp(`^[0-9a-f]{${oidBytes * 2}}\t`)) ?? ''),
  BISECT_START: (text) => headName(text.replace(/\n$/, '')),
  BISECT_LOG: (text) => plainLines(text, /^(?:#.*|git bisect (?:start|good|bad|skip|old|new|terms)[^$`;&|<>]*|)$/s),
  BISECT_NAMES: (text) => (/^(?: ?'[^'\\\n]*')*\s*$/.test(text) ? text : undefined),
  BISECT_TERMS: (text) => plainLines(text, /^[A-Za-z][A-Za-z0-9_-]*$/),
  BISECT_EXPECTED_REV: oids,
  BISECT_HEAD: oids,
  BISECT_ANCESTORS_OK: (text) => (text === '' ? '' : undefined),
  BISECT_FIRST_PARENT: (text) => (text === '' ? '' : undefined),
}

/**
 * The names of all state files that are directly in a work tree's git directory. `stateDirectories` lists the directories that contain the other
 * state files.
 */
export const stateFiles: readonly string[] = Object.keys(files)
export const stateDirectories: readonly string[] = Object.keys(directories)

/** Operations, by the name of the entry that a work tree's git directory contains while the operation is in progress. */
const operations: Readonly<Record<string, string>> = {
  MERGE_HEAD: 'a merge',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  REVERT_HEAD: 'a revert',
  'rebase-merge': 'a rebase',
  'rebase-apply': 'a rebase or git am',
  sequencer: 'a series of cherry-picks or reverts',
  BISECT_START: 'a bisect',
}

/** The operation that somebody has begun in a work tree, and neither concluded nor aborted; undefined if there is none. */
export function operationIn(own: HeldDirectory): string | undefined {
  return Object.entries(operations).find(([name]) => own.stat(name) !== undefined)?.[1]
}

/**
 * The operation in progress in a work tree, as `operationIn` says; undefined also if git's directory can't be opened.
 *
 * @internal
 */
export function operationAt(git: GitDirectories): string | undefined {
  const held = holdGit(git)
  try {
    return held && operationIn(held.own)
  } finally {
    held?.close()
  }
}

/**
 * The part of a state file that may be imported. Text that git only shows or reads as data is kept; text that it would run is removed.
 *
 * @param path the file's path, relative to the work tree's git directory
 * @returns undefined if the file is not a state file, is too large, or has an invalid form
 */
export function importableState(path: string, content: Buffer, oidBytes: number): Buffer | undefined {
  if (content.length > largestState) return undefined
  const slash = path.lastIndexOf('/')
  const rule = slash === -1 ? files[path] : directories[path.slice(0, slash)]?.(path.slice(slash + 1))
  const text = rule?.(decodeText(content), oidBytes)
  return text === undefined ? undefined : encodeText(text)
}

/**
 * Returns the rule for a file of an interrupted rebase or `am`. A merge strategy is imported only if it is one of git's own, because any other
 * strategy names a program. Options for a merge strategy or for `git commit` are not imported, because git would pass them to programs.
 */
function rebaseFile(name: string): Rule | undefined {
  if (/^git-rebase-todo(?:\.backup)?$|^done$/.test(name)) return todoList
  if (
    /^(?:onto|orig-head|squash-onto|stopped-sha|autostash|amend|abort-safety|original-commit|dirtyindex)$/.test(name)
  ) {
    return optionalOid
  }
  if (name === 'head-name')
    return (text) => headName(text.replace(/\n$/, '')) ?? (text.trim() === 'detached HEAD' ? text : undefined)
  if (name === 'author-script') return authorScript
  if (name === 'strategy')
    return (text) => (/^(?:ort|recursive|resolve|octopus|ours|subtree)\n?$/.test(text) ? text : undefined)
  if (/^(?:msgnum|end|next|last)$/.test(name)) return (text) => (/^\d{1,9}\n?$/.test(text) ? text : undefined)
  if (/^\d{4,6}$/.test(name)) return plainText
  const flags =
    /^(?:interactive|quiet|verbose|signoff|drop_redundant_commits|keep_redundant_commits|no-reschedule-failed-exec|reschedule-failed-exec|cdate_is_adate|ignore_date|rebasing|applying|threeway|keep|utf8|sign|scissors|messageid|force-rewrite)$/
  if (flags.test(name)) return (text) => (/^[a-z]{0,16}\n?$/.test(text) ? text : undefined)
  const texts =
    /^(?:message|message-squash|message-fixup|current-fixups|rewritten-list|rewritten-pending|rewritten|patch|msg|msg-clean|info|final-commit|update-refs|refs-to-delete)$/
  return texts.test(name) ? plainText : undefined
}

/** A rebase's task list without the lines that run programs. */
function todoList(text: string): string | undefined {
  const known =
    /^[ \t]*(?:#[^\r]*|noop|break|b|(?:pick|p|reword|r|edit|e|squash|s|fixup|f|drop|d|revert|label|l|reset|t|merge|m|update-ref|u)[ \t][^\r]*|)$/
  if (/\0/.test(text)) return undefined
  return text
    .split('\n')
    .filter((line) => known.test(line))
    .join('\n')
}

function oids(text: string, oidBytes: number): string | undefined {
  const lines = text.replace(/\n$/, '').split('\n')
  return lines.every((line) => isOid(line, oidBytes)) ? `${lines.join('\n')}\n` : undefined
}

function optionalOid(text: string, oidBytes: number): string | undefined {
  return text.trim() === '' ? text : oids(text, oidBytes)
}

function headName(text: string): string | undefined {
  return (isRefName(text) || isRefName(`refs/heads/${text}`) || /^[0-9a-f]{40,64}$/.test(text)) && !text.startsWith('-')
    ? `${text}\n`
    : undefined
}

/** The rule for a file of shell assignments: the author's name, address and date in single quotes, as git's `sq_quote` writes them. */
function authorScript(text: string): string | undefined {
  return plainLines(text, /^GIT_AUTHOR_(?:NAME|EMAIL|DATE)='(?:[^'\\\n]|'\\['!]')*'$/)
}

function plainLines(text: string, form: RegExp): string | undefined {
  const lines = text.replace(/\n$/, '').split('\n')
  return text === '' || lines.every((line) => form.test(line) && !/[\0\r\x1b]/.test(line)) ? text : undefined
}

function plainText(text: string): string | undefined {
  return text.includes('\0') ? undefined : text
}
