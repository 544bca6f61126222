/** Whatever commands a run makes, git's plumbing among them: afterwards, the tree and its repositories hold only what the landing says. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { lockSession } from '../../../engine/session/session-lock.ts'
import type { ChangeRecord } from '../../../engine/transaction/change-record.ts'
import { land, type Landing } from '../../../engine/transaction/land.ts'
import { makeView } from '../../../engine/transaction/private-view.ts'
import { recordChanges } from '../../../engine/transaction/record-changes.ts'
import { credentialPlaces, openSandbox, parsePolicy, SandboxError } from '../../../sandbox/index.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { controlling, makeRepository, marker, script } from './random-commands.ts'

const identity = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }

/** Each path of a tree with its kind, mode and content. */
function entriesOf(root: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const walk = (path: string): void => {
    for (const name of readdirSync(path).toSorted()) {
      const at = join(path, name)
      const stats = lstatSync(at)
      const kind = (stats.mode >>> 0).toString(8)
      if (stats.isSymbolicLink()) found.set(relative(root, at), `${kind} ${readlinkSync(at)}`)
      else if (stats.isFile()) found.set(relative(root, at), `${kind} ${readFileSync(at, 'latin1')}`)
      else found.set(relative(root, at), kind)
      if (stats.isDirectory()) walk(at)
    }
  }
  walk(root)
  return found
}

const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const refsOf = (repository: string): ReadonlyMap<string, string> =>
  new Map(
    git(repository, 'for-each-ref', '--format=%(refname) %(objectname)')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ') as [string, string]),
  )

/** What is staged in a repository, by path. */
const stagedIn = (repository: string): ReadonlyMap<string, string> =>
  new Map(
    git(repository, 'ls-files', '-s', '-z')
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => line.split('\t') as [string, string])
      .map(([entry, name]) => [name, entry]),
  )

/** The entry that a file would have in the index. */
function entryOf(repository: string, name: string): string | undefined {
  const stats = lstatSync(join(repository, name), { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return undefined
  const input = stats.isSymbolicLink() ? readlinkSync(join(repository, name)) : readFileSync(join(repository, name))
  const words = ['hash-object', '--no-filters', '--stdin']
  const blob = execFileSync('git', words, { cwd: repository, input, encoding: 'utf8' }).trim()
  const executable = (stats.mode & 0o100) === 0 ? '100644' : '100755'
  return `${stats.isSymbolicLink() ? '120000' : executable} ${blob} 0`
}

/** The names that differ, or that only one of the two has. */
const differing = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): readonly string[] =>
  [...new Set([...one.keys(), ...other.keys()])].filter((key) => one.get(key) !== other.get(key))

/** The configuration of a repository that was made anew. */
const plainConfig =
  ' [core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n'

type Before = {
  readonly entries: ReadonlyMap<string, string>
  readonly refs: Readonly<Record<string, ReadonlyMap<string, string>>>
  readonly staged: Readonly<Record<string, ReadonlyMap<string, string>>>
}
const repositories = ['.', 'sub']

const lookAt = (root: string): Before => ({
  entries: entriesOf(root),
  refs: Object.fromEntries(repositories.map((path) => [path, refsOf(join(root, path))])),
  staged: Object.fromEntries(repositories.map((path) => [path, stagedIn(join(root, path))])),
})

/** What the tree and its repositories hold that the landing doesn't tell of, in sentences. */
function untold(root: string, before: Before, record: ChangeRecord, landing: Landing): readonly string[] {
  const now = entriesOf(root)
  const changed = differing(before.entries, now)
  if (landing.type === 'conflict' || landing.type === 'failed' || landing.type === 'interrupted')
    return changed.map((path) => `nothing landed, but ${path} has changed`)
  const told = new Set(record.changes.map(({ path }) => path))
  const report = landing.commits
  const movedIn = (repository: string): boolean =>
    report?.landed.some(
      ({ path, moved }) => relative(root, path) === (repository === '.' ? '' : repository) && moved !== undefined,
    ) === true
  const madeGits = (report?.made ?? []).map((each) => join(relative(root, each.path), '.git'))
  const isRemade = (path: string): boolean =>
    madeGits.some(
      (each) => path === each || (path === `${each}/config` && now.get(path)?.endsWith(plainConfig) === true),
    )
  const mayChange = (path: string): boolean => {
    const made = madeGits.find((each) => path === each || path.startsWith(`${each}/`))
    if (made !== undefined)
      return /^$|^\/(?:HEAD|config|index|packed-refs|shallow|objects(?:\/(?:info|pack(?:\/.*)?))?|refs(?:\/(?:heads|tags))?)$/.test(
        path.slice(made.length),
      )
    const at = /^(?:(?<nested>sub)\/)?\.git(?:\/(?<rest>.*))?$/s.exec(path)?.groups
    if (at === undefined) return told.has(path)
    const { nested = '.', rest = '' } = at
    if (rest === '') return true
    if (/^objects\/(?:[\da-f]{2}(?:\/[\da-f]{38})?|pack(?:\/pack-[\da-f]{40}\.(?:pack|idx|rev|keep))?)$/.test(rest))
      return !before.entries.has(path) || now.get(path)?.length === before.entries.get(path)?.length
    if (/^(?:logs\/)?refs(?:\/heads|\/portcullis)?(?:\/|$)/.test(rest) || rest === 'logs') return now.has(path)
    if (['HEAD', 'logs/HEAD'].includes(rest)) return movedIn(nested)
    if (rest === 'index') return report?.indexes.some(({ path }) => path === join(root, nested)) === true
    return false
  }
  const ofFiles = changed.filter((path) => !mayChange(path)).map((path) => `${path} has changed`)
  const planted = changed
    .filter((path) => !isRemade(path))
    .filter((path) => now.has(path) && controlling.some((name) => path.toLowerCase() === name.toLowerCase()))
    .map((path) => `${path} landed`)
  const ofRefs = repositories.flatMap((path) => {
    const is = refsOf(join(root, path))
    const was = before.refs[path] ?? new Map<string, string>()
    const here = (each: { readonly path: string }): boolean => join(root, path) === each.path
    const allowed = new Set([
      ...(report?.refs ?? []).filter(here).map(({ ref }) => ref),
      ...(report?.landed ?? []).filter(here).flatMap(({ ref, moved }) => [ref, moved && `refs/heads/${moved.branch}`]),
      ...(report?.landed ?? []).filter(here).flatMap(({ moved }) => [moved?.branch]),
    ])
    return differing(was, is).flatMap((ref) => {
      const value = is.get(ref)
      if (value === undefined) return [`${path}: ${ref} is gone`]
      const isOwn = ref.startsWith('refs/heads/') || ref.startsWith('refs/portcullis/')
      const told = allowed.has(ref) ? [] : [`${path}: ${ref} has changed untold`]
      const kind = isOwn ? [] : [`${path}: ${ref} is no branch`]
      const held = ref.startsWith('refs/portcullis/') ? [] : inCommits(join(root, path), value, [...was.values()])
      return [...told, ...kind, ...held.map((name) => `${path}: ${ref} holds ${name}`)]
    })
  })
  const ofIndexes = repositories.flatMap((path) => {
    const is = stagedIn(join(root, path))
    return differing(before.staged[path] ?? new Map<string, string>(), is).flatMap((name) => {
      const entry = is.get(name)
      if (entry === undefined || movedIn(path)) return []
      const isControlling = controlling.some((each) => name.toLowerCase() === each.toLowerCase())
      return isControlling || entry !== entryOf(join(root, path), name) ? [`${path}: ${name} is staged untold`] : []
    })
  })
  return [...ofFiles, ...planted, ...ofRefs, ...ofIndexes]
}

/** The names that control other programs and that a commit's history adds to what was there. */
function inCommits(repository: string, value: string, known: readonly string[]): readonly string[] {
  const added = git(repository, 'rev-list', value, '--not', ...known)
    .split('\n')
    .filter((line) => line !== '')
  return added
    .flatMap((commit) => git(repository, 'ls-tree', '-r', '-z', '--name-only', commit).split('\0'))
    .filter((name) => controlling.some((each) => name.toLowerCase() === each.toLowerCase()))
}

test.skipIf(needsBubblewrap())(
  'after random commands, the tree and its repositories hold only what the landing says, and start nothing',
  async () => {
    const template = tempDir()
    makeRepository(join(template, 'tree'))
    onTestFinished(() => rmSync(template, { recursive: true, force: true }))
    await fc.assert(
      fc.asyncProperty(script, async (commands) => {
        const base = tempDir()
        const root = join(base, 'tree')
        execFileSync('cp', ['-a', join(template, 'tree'), root])
        const before = lookAt(root)
        const kept = join(base, 'kept')
        mkdirSync(kept, { mode: 0o700 })
        const { directory, release } = lockSession(kept, 'run')
        const view = await makeView(directory, [root], 'copy', '')
        const sandbox = await openSandbox(
          parsePolicy({
            mode: 'workspace-write',
            workspace: root,
            views: view.views,
            deniedReads: [...credentialPlaces(), directory],
            environment: {
              set: identity,
            },
          }),
        )
        try {
          // Two commands, because what the first one leaves in git's files is taken over before the second one.
          const lines = commands.split('\n')
          for (const part of [lines.slice(0, lines.length / 2), lines.slice(lines.length / 2)]) {
            const { stdout, stderr, result } = sandbox.spawn({ argv: ['sh', '-c', part.join('\n')], cwd: root })
            // A command that takes away its own rights to `.git` is the last one: the sandbox says that it can't be opened any more.
            await Promise.all([text(stdout), text(stderr), result]).catch((error: unknown) => {
              if (!SandboxError.is(error, 'setup-failed')) throw error
            })
          }
          expect([...entriesOf(root)]).toEqual([...before.entries])
          const record = await recordChanges(view, sandbox, true)
          const landing = await land(directory, record, { commits: true })
          expect(untold(root, before, record, landing)).toEqual([])
          const made = 'commits' in landing ? (landing.commits?.made ?? []) : []
          const all = [...repositories.map((each) => join(root, each)), ...made.map((each) => each.path)]
          for (const path of all.filter((each) => existsSync(join(each, '.git'))))
            for (const words of [
              ['status'],
              ['fsck', '--connectivity-only'],
              ['stash', 'list'],
              ['commit', '-qam', 'x', '--allow-empty'],
            ])
              spawnSync('git', words, {
                cwd: path,
                stdio: 'ignore',
                env: { ...process.env, ...identity },
              })
          expect(existsSync(join(base, marker))).toBe(false)
        } finally {
          await sandbox.close()
          release()
          spawnSync('chmod', ['-R', 'u+rwX', base])
          rmSync(base, { recursive: true, force: true })
        }
      }),
      { numRuns: 60 },
    )
  },
  1_800_000,
)
