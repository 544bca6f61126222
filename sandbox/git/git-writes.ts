import { dirname } from 'node:path'
import { decodeText, encodeText, hasRawBytes } from '../path-bytes.ts'
import { commitOf, headOf, largestPacked, smallFile, type GitDirectories, type HeldGit } from './git-directories.ts'
import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import { refInPacked } from './refs.ts'

/**
 * A replacement of a whole file in a git directory. `before` is undefined if the file is new; `after` is undefined if the file is removed. `mode`: the file's
 * permission bits; by default, those that it has, or the usual ones. `isSynced`: whether the content must be on disk before the file appears, because other
 * files will refer to it.
 */
export type GitWrite = {
  readonly path: string
  readonly before: Buffer | undefined
  readonly after: Buffer | undefined
  readonly mode?: number
  readonly isSynced?: true
}

/**
 * Changes to git's own files, which are made together. The program that makes them first checks that the `unchanged` files are still the same, and
 * holds the `locks` meanwhile, as git does. Paths are absolute.
 */
export type GitWrites = {
  readonly within: readonly string[]
  readonly writes: readonly GitWrite[]
  /** Directories to make besides those that the files need. Absent: none. */
  readonly directories?: readonly string[]
  readonly unchanged: readonly Pick<GitWrite, 'path' | 'before'>[]
  readonly locks: readonly string[]
}

/** A change to a ref. `old` is undefined if the ref is new; `now` is undefined if the ref is removed. */
type RefUpdate = { readonly name: string; readonly old: string | undefined; readonly now: string | undefined }

/** The maximum size of an index, in bytes. */
export const largestIndex = 1024 ** 3
const largestLog = 256 * 1024 * 1024
const message = 'portcullis: taken over'

/** Plans changes to a repository's files, without making any. */
export type GitPlan = {
  /** Adds to the plan: a new value for a ref, or its removal. @returns why that is impossible; undefined if it is possible */
  readonly setRef: (update: RefUpdate) => string | undefined
  /** Adds to the plan: a new line in HEAD's reflog. Carrying out the plan fails if HEAD has changed in the meantime. */
  readonly moveHead: (old: string | undefined, now: string | undefined) => void
  /** Adds to the plan: HEAD names another branch. `old` and `now` are the commits, for the reflog. */
  readonly switchHead: (branch: string, old: string | undefined, now: string | undefined) => void
  /** Adds to the plan: a new index, or its removal. Carrying out the plan fails if the index is no longer `before`. */
  readonly setIndex: (before: Buffer | undefined, after: Buffer | undefined) => void
  /** The index as it is, and as it is after what is planned so far. */
  readonly index: () => { readonly before: Buffer | undefined; readonly now: Buffer | undefined }
  /** Adds to the plan: new files in a directory, which are written before everything else. */
  readonly addFiles: (files: { readonly within: string; readonly writes: readonly GitWrite[] }) => void
  readonly writes: () => GitWrites
}

/**
 * Creates a plan for changes to a repository's files.
 *
 * @param earlier the changes of a plan for another work tree of the same repository, which this plan continues: its own changes include them. Default: none
 */
export function planGit(git: HostGit, held: HeldGit, { own, common }: GitDirectories, earlier?: GitWrites): GitPlan {
  const writes = new Map(earlier?.writes.map((each) => [each.path, each]))
  const unchanged = new Map(earlier?.unchanged.map(({ path, before }) => [path, before]))
  const locks = new Set(earlier?.locks)
  const names = new Set<string>()
  const files: { readonly within: string; readonly writes: readonly GitWrite[] }[] = []
  const put = (path: string, before: Buffer | undefined, after: Buffer | undefined): void => {
    writes.set(path, { path, before: writes.get(path)?.before ?? before, after })
  }
  const line = (old: string | undefined, now: string | undefined): Buffer => {
    const none = '0'.repeat((now ?? old ?? '').length)
    const at = Math.floor(Date.now() / 1000)
    return Buffer.from(`${old ?? none} ${now ?? none} Portcullis <portcullis@localhost> ${at} +0000\t${message}\n`)
  }
  const log = (directory: HeldDirectory, base: string, name: string, added: Buffer): void => {
    const path = `${base}/logs/${name}`
    const before = directory.read(`logs/${name}`, largestLog)
    const isUsual = /^(?:HEAD$|refs\/(?:heads|notes)\/)/.test(name)
    if (before === undefined && !(isUsual && isLogged(git, held.own))) return
    put(path, before, Buffer.concat([before ?? Buffer.alloc(0), added]))
  }
  return {
    setRef: ({ name, old, now }) => {
      const short = name.replace(/^refs\/heads\//, '')
      const file = `${common}/${name}`
      if (hasRawBytes(file)) return `${JSON.stringify(file)} is not UTF-8`
      const loose = held.common.read(name, smallFile)
      const kind = held.common.stat(name)?.kind
      const isPlain = kind === undefined || kind === 'file'
      const isWithin = (one: string, other: string): boolean => one.startsWith(`${other}/`)
      const isBeside = [...names].some((other) => isWithin(name, other) || isWithin(other, name))
      if (!isPlain || commitOf(held.common, name) !== old || isInTheWay(held.common, name) || isBeside)
        return `${short} can\u2019t be set, because it has changed or its name conflicts with another branch: see git branch --list`
      if (loose !== undefined && old === undefined) return `${short} does not name a commit`
      if (now !== undefined) names.add(name)
      if (held.common.stat(dirname(name))?.kind === 'directory') locks.add(`${file}.lock`)
      const packed = held.common.read('packed-refs', largestPacked)
      if (now === undefined) {
        if (loose !== undefined) put(file, loose, undefined)
        const rest = packed && withoutRef(writes.get(`${common}/packed-refs`)?.after ?? packed, name)
        if (packed !== undefined && rest !== undefined && refInPacked(packed, name) !== undefined) {
          locks.add(`${common}/packed-refs.lock`)
          put(`${common}/packed-refs`, packed, rest)
        }
        const known = held.common.read(`logs/${name}`, largestLog)
        if (known !== undefined) put(`${common}/logs/${name}`, known, undefined)
      } else {
        if (loose === undefined && packed !== undefined) unchanged.set(`${common}/packed-refs`, packed)
        put(file, loose, Buffer.from(`${now}\n`))
        log(held.common, common, name, line(old, now))
      }
      return undefined
    },
    moveHead: (old, now) => {
      locks.add(`${own}/HEAD.lock`)
      unchanged.set(`${own}/HEAD`, held.own.read('HEAD', smallFile))
      log(held.own, own, 'HEAD', line(old, now))
    },
    switchHead: (branch, old, now) => {
      locks.add(`${own}/HEAD.lock`)
      put(`${own}/HEAD`, held.own.read('HEAD', smallFile), encodeText(`ref: ${branch}\n`))
      log(held.own, own, 'HEAD', line(old, now))
    },
    setIndex: (before, after) => {
      locks.add(`${own}/index.lock`)
      const isSame = after === undefined ? before === undefined : before?.equals(after)
      if (isSame === true) unchanged.set(`${own}/index`, before)
      else put(`${own}/index`, before, after)
    },
    index: () => {
      const planned = writes.get(`${own}/index`)
      const before = planned === undefined ? held.own.read('index', largestIndex) : planned.before
      return { before, now: planned === undefined ? before : planned.after }
    },
    addFiles: (added) => {
      files.push(added)
    },
    writes: () => ({
      within: [...new Set([...(earlier?.within ?? []), own, common, ...files.map(({ within }) => within)])],
      writes: [...files.flatMap((each) => each.writes), ...writes.values()],
      unchanged: [...unchanged].filter(([path]) => !writes.has(path)).map(([path, before]) => ({ path, before })),
      locks: [...locks].toSorted(),
    }),
  }
}

/** Whether git creates reflogs in this repository for refs that have none yet. */
function isLogged(git: HostGit, own: HeldDirectory): boolean {
  const said = git.run(own, ['config', '--get', 'core.logAllRefUpdates']).stdout.toString().trim()
  return headOf(own) !== undefined && !/^(?:false|no|off|0)$/i.test(said)
}

/**
 * Whether a ref of this name would conflict with existing refs, because a leading part of the name is itself a ref or because `packed-refs` contains
 * refs below the name.
 */
export function isInTheWay(common: HeldDirectory, name: string): boolean {
  const parts = name.split('/')
  const parents = parts.slice(3).map((_, index) => parts.slice(0, index + 3).join('/'))
  const packed = common.read('packed-refs', largestPacked)
  return (
    parents.some((parent) => common.stat(parent)?.kind === 'file' || commitOf(common, parent) !== undefined) ||
    packed?.includes(encodeText(` ${name}/`)) === true
  )
}

/** Removes one ref from a `packed-refs` file, together with the line for the ref's peeled value. */
function withoutRef(packed: Buffer, name: string): Buffer {
  const lines = decodeText(packed).split('\n')
  const at = lines.findIndex((each) => each.endsWith(` ${name}`) && /^[0-9a-f]/.test(each))
  if (at === -1) return packed
  lines.splice(at, lines[at + 1]?.startsWith('^') === true ? 2 : 1)
  return encodeText(lines.join('\n'))
}
