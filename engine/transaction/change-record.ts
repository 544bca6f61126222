import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { gitPatch, type GitSide } from '../../apply-patch/index.ts'
import { UserError } from '../core/user-error.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import { keptBytes } from './kept-files.ts'

/** The schema of `Side`. */
export const side = z.discriminatedUnion('type', [
  z.object({ type: z.literal('absent') }),
  /** `hash`: the SHA-256 of the file's content, or null if the content is unknown. The content itself is stored separately. */
  z.object({ type: z.literal('file'), mode: z.int(), size: z.number(), hash: z.string().nullable() }),
  z.object({ type: z.literal('symlink'), target: z.string() }),
  /** `was`: present if it is unknown which mode the directory had before the run. */
  z.object({ type: z.literal('directory'), mode: z.int(), was: z.literal('unknown').optional() }),
])

const change = z.object({
  root: z.string(),
  path: z.string(),
  before: side,
  after: side,
  /** Why the file must not be merged line by line with a change that somebody else made. Absent: it may be. */
  no_merge: z.string().optional(),
  /** Set if git ignores the path. It lands like any other, but lists and patches leave it out. */
  ignored: z.literal(true).optional(),
  /** When the entry was last modified in the view, in nanoseconds since 1970. Absent: it was removed, or is an older directory with another mode. */
  modified: z.string().optional(),
})

/** A difference between the refs of a repository before and after the run, as in `RefChange`. */
const refChange = z.object({ name: z.string(), old: z.string().optional(), now: z.string().optional() })

/** The files of a repository that was made anew from one that the run made, in its git directory, and the refs that it lacks; or why there is none. */
const made = z.union([
  z.object({
    files: z.array(z.object({ path: z.string(), mode: z.int(), size: z.number(), hash: z.string() })),
    dropped: z.array(z.string()),
  }),
  z.object({ why: z.string() }),
])

const record = z.object({
  version: z.literal(1),
  /** When the first of the changes was recorded, in ISO 8601 format. */
  at: z.string(),
  /** Changes that can land: to tracked files, and to untracked ones that git doesn't ignore. */
  changes: z.array(change),
  /** How many files that git ignores have changed, and their size. They are among the changes only if they land too. */
  ignored: z.object({ files: z.int(), bytes: z.number() }),
  /** Files that never land because they control other programs. */
  protected: z.array(z.string()),
  /** Pipes, sockets and devices. They never land. */
  special: z.array(z.string()),
  /**
   * Repositories in which the run changed refs or HEAD, or created objects, such as commits. None of this lands with the files. `kept`: where the repository is
   * in the view. `refs`: what the run changed; empty if it only created objects. Absent: it isn't known what the run changed. `made`: how it lands, if the run
   * made the repository.
   */
  repositories: z
    .array(
      z.object({
        path: z.string(),
        kept: z.string(),
        refs: z.array(refChange).readonly().optional(),
        made: made.optional(),
      }),
    )
    .default([]),
  /** Changes that can't land, and why. All others land without them. */
  blocked: z.array(z.object({ path: z.string(), why: z.string() })),
  /** The additional paths that the run's policy protects, as in the policy. Entries of commits are judged by them, too. */
  protected_paths: z.array(z.string()).default([]),
  /** Whether `changes` includes files that git ignores. */
  with_ignored: z.boolean().default(false),
  /** The fingerprint of the view that is described here. Absent: an earlier version made this record. */
  view: z.string().optional(),
})

/** The state of a path before or after a run. */
export type Side = z.infer<typeof side>
/** A run's change to one path of a tree. */
export type RunChange = z.infer<typeof change>
/** Everything that a run changed in its view. */
export type ChangeRecord = z.infer<typeof record>

/** Whether a change adds, updates or removes its path. */
export function kindOf({ before, after }: Pick<RunChange, 'before' | 'after'>): 'add' | 'update' | 'delete' {
  if (before.type === 'absent') return 'add'
  return after.type === 'absent' ? 'delete' : 'update'
}

/** Removes the stored changes of a session's view. */
export function removeRecord(directory: LockedFolder): void {
  rmSync(folder(directory), { recursive: true, force: true })
}

/** Removes all stored changes of a session, including those that were set aside. */
export function removeAllRecords(directory: LockedFolder): void {
  removeRecord(directory)
  for (const path of recordsAside(directory)) rmSync(path, { recursive: true, force: true })
}

/** Why stored changes were set aside: `agent undo` reverted them, or they describe work that has not landed. */
type Aside = 'reverted' | 'unlanded'

/** Sets the stored changes of a session aside, because a new view gets a record of its own. */
export function setRecordAside(directory: LockedFolder, why: Aside): void {
  if (!existsSync(folder(directory))) return
  const number = Math.max(0, ...recordsAside(directory, why).map(numberOf)) + 1
  renameSync(folder(directory), join(directory, `${why}-${number}`))
}

/** The patches of reverted changes that a session has set aside, oldest first. */
export function revertedPatches(directory: string): readonly string[] {
  return recordsAside(directory, 'reverted').map((path) => join(path, 'changes.patch'))
}

/** The folders with changes that a session has set aside, oldest first. `why` selects some of them. */
export function recordsAside(directory: string, why?: Aside): readonly string[] {
  const names = existsSync(directory) ? readdirSync(directory) : []
  const paths = names
    .filter((name) => /^(?:reverted|unlanded)-\d{1,9}$/.test(name) && name.startsWith(why ?? ''))
    .map((name) => join(directory, name))
  return paths.toSorted((one, other) => numberOf(one) - numberOf(other))
}

const numberOf = (path: string): number => Number(path.slice(path.lastIndexOf('-') + 1))

const folder = (directory: string): string => join(directory, 'changes')
const recordFile = (directory: string): string => join(folder(directory), 'record.json')

/** The path of the file that contains a session's changes as a patch for `git apply --binary`. */
export function patchFile(directory: string): string {
  return join(folder(directory), 'changes.patch')
}

/** Stores the changes of a run, and their patch. */
export function writeRecord(directory: LockedFolder, now: ChangeRecord): void {
  mkdirSync(folder(directory), { recursive: true, mode: 0o700 })
  writePatch(directory, notIgnored(now))
  const file = recordFile(directory)
  writeFileSync(`${file}.new`, `${JSON.stringify(now)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** Reads what a session's runs changed; undefined if that hasn't been recorded. */
export function readRecord(directory: string): ChangeRecord | undefined {
  const file = recordFile(directory)
  if (!existsSync(file)) return undefined
  try {
    return record.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new UserError('usage', `${file}: can't be read: ${(error as Error).message}`, { cause: error })
  }
}

/** The changes to list one by one: all but those to paths that git ignores. */
export function notIgnored({ changes }: Pick<ChangeRecord, 'changes'>): readonly RunChange[] {
  return changes.filter(({ ignored }) => ignored !== true)
}

/**
 * Renders changes as a patch. Leaves out directories, which git can't represent. A comment takes the place of a file that is too large or whose content
 * before or after the change is unknown.
 */
export function renderPatch(directory: string, changes: readonly RunChange[]): string {
  return changes.map((change) => patchOf(directory, change)).join('')
}

/** Writes the patch in pieces, because the patch of all changes may be longer than the longest possible string. */
function writePatch(directory: string, changes: readonly RunChange[]): void {
  const descriptor = openSync(patchFile(directory), 'w', 0o600)
  try {
    let text = ''
    for (const change of changes) {
      text += patchOf(directory, change)
      if (text.length < writtenAtOnce) continue
      writeFileSync(descriptor, text)
      text = ''
    }
    writeFileSync(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
}

const writtenAtOnce = 1024 * 1024

/**
 * The maximum size of a file whose content a patch contains, in bytes. As text, content takes several times its size, and git rejects patches of 1 GiB or
 * more. For a larger file, a patch contains only the name.
 */
export const largestInPatch = 64 * 1024 * 1024

/** The size of a file before or after a change; 0 for anything that isn't a file. */
export function sizeOf(side: Side): number {
  return side.type === 'file' ? side.size : 0
}

function patchOf(directory: string, { path, before, after }: RunChange): string {
  if (isUnknown(before) || isUnknown(after)) {
    return `# ${JSON.stringify(path)} is left out of this patch, because its content before or after the change is unknown\n`
  }
  const size = Math.max(sizeOf(before), sizeOf(after))
  if (size > largestInPatch)
    return `# ${JSON.stringify(path)} is too large for a patch (${size} bytes), but "agent apply" can land it\n`
  return gitPatch(path, gitSide(directory, before), gitSide(directory, after))
}

function isUnknown(one: Side): boolean {
  return one.type === 'file' && one.hash === null
}

function gitSide(directory: string, one: Side): GitSide {
  if (one.type === 'symlink') return { type: 'symlink', target: one.target }
  if (one.type !== 'file' || one.hash === null) return undefined
  return { type: 'file', bytes: keptBytes(directory, one.hash), mode: one.mode }
}
