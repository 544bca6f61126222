import { lstatSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DirectoryChange } from '../../apply-patch/index.ts'
import {
  emptyDirectories,
  findOddPart,
  encodePath,
  encodeText,
  isRemadeAsItWas,
  isRemoteUrl,
  remakeRepository,
  removeTree,
  stateOfRemade,
  type GitDirectories,
  type GitWrites,
  type Sandbox,
  type SandboxPolicy,
  type View,
} from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'
import { readGit } from '../core/sandboxed-git.ts'
import { typedWords } from '../session/typed-words.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import type { ChangeRecord } from './change-record.ts'
import { protectedIn } from './protected-in-view.ts'
import { findBorrowedOutside } from './find-borrowed.ts'
import { keepBytes, keptBytes } from './kept-files.ts'
import type { ViewState } from './view-state.ts'

/** How a repository that a run made lands: the files of one made anew, or why there are none. */
type Made = NonNullable<ChangeRecord['repositories'][number]['made']>

/** The maximum size of the objects of one such repository, how many of them land at a time, and for how many milliseconds git packs them. */
const [largestPack, mostMade, longestMs] = [512 * 1024 * 1024, 50, 30_000]

/**
 * Returns a function that makes a repository anew from one that a run made in its view, and stores the files. Git packs the objects in the run's sandbox, as the run
 * itself could, and without writing anything.
 *
 * @param views the trees of the view
 */
export function openRemaking(
  directory: LockedFolder,
  sandbox: Sandbox,
  policy: Pick<SandboxPolicy, 'protectedPaths'>,
  views: readonly View[],
): (made: { readonly path: string; readonly git: GitDirectories }) => Promise<Made> {
  const roots = views.flatMap(({ path, source }) => [path, source])
  const until = performance.now() + longestMs
  let number = 0
  let typed: ReadonlySet<string> | undefined
  return async ({ path, git: from }) => {
    number += 1
    const left = until - performance.now()
    if (number > mostMade || left <= 0) return { why: 'there are too many new repositories' }
    const odd = findOddPart(from)
    if (odd !== undefined) return { why: odd }
    const outside = findBorrowedOutside(join(path, '.git'), views)
    if (outside !== undefined) return { why: `it borrows objects from ${outside}` }
    const where = { cwd: path, readOnly: true, signal: AbortSignal.timeout(Math.ceil(left)) }
    const ask = (most: number, ...words: readonly string[]) =>
      readGit(sandbox, [`--git-dir=${join(path, '.git')}`, ...words], where, most, [0, 1])
    const format = await ask(100, 'rev-parse', '--show-object-format')
    if (typeof format === 'string') return { why: format }
    const pack = await ask(largestPack, 'pack-objects', '-q', '--all', '--indexed-objects', '--stdout')
    if (typeof pack === 'string') return { why: pack }
    const words = ['config', '--file', join(path, '.git/config'), '--no-includes', '-z', '--get-regexp']
    const urls = await ask(64 * 1024, ...words, '^remote\\..*\\.url$')
    typed ??= typedWords(directory)
    const remade = await remakeRepository({
      ...{ from, pack, roots },
      oidBytes: format.toString().trim() === 'sha256' ? 32 : 20,
      remotes: typeof urls === 'string' ? [] : remotesIn(urls.toString(), typed),
      protectedIn: protectedIn(policy.protectedPaths, path, undefined),
    })
    if ('why' in remade) return remade
    const files = remade.files.map(({ path: name, content, mode }) => ({
      ...{ path: name, mode, size: content.length },
      hash: keepBytes(directory, content),
    }))
    return { files, dropped: [...remade.dropped] }
  }
}

/** The remotes with URLs that a command of the run named. */
function remotesIn(
  config: string,
  typed: ReadonlySet<string>,
): readonly { readonly name: string; readonly url: string }[] {
  const found = new Map<string, string>()
  for (const line of config.split('\0')) {
    const [key = '', url = ''] = line.split('\n')
    const name = /^remote\.([A-Za-z0-9_][A-Za-z0-9_.-]*)\.url$/.exec(key)?.[1]
    if (name !== undefined && !found.has(name) && !name.includes('..') && typed.has(url) && isRemoteUrl(url))
      found.set(name, url)
  }
  return [...found].map(([name, url]) => ({ name, url }))
}

/** A planned landing of a repository that a run made. */
type PlannedMade = {
  readonly git: GitWrites
  readonly landed: NonNullable<ViewState['made']>[number]
}

/**
 * Plans to write a repository that was made anew.
 *
 * @returns `why` if that is impossible
 */
export function planMade(directory: string, path: string, made: Made): PlannedMade | { readonly why: string } {
  if ('why' in made) return made
  const git = join(path, '.git')
  if (lstatSync(encodePath(git), { throwIfNoEntry: false }) !== undefined)
    return { why: `something else is in its place: ${git}` }
  const files = made.files.map((each) => ({ ...each, content: keptBytes(directory, each.hash) }))
  const writes = files.map(({ path: name, content, mode }) => {
    const isSynced = name.startsWith('objects/') ? { isSynced: true as const } : {}
    return { path: join(git, name), before: undefined, after: content, mode, ...isSynced }
  })
  const contentOf = (name: string): Buffer => files.find((each) => each.path === name)?.content ?? encodeText('')
  return {
    git: {
      ...{ within: [git], writes, unchanged: [], locks: [] },
      directories: emptyDirectories.map((name) => join(git, name)),
    },
    landed: { path, state: stateOfRemade(contentOf('HEAD'), contentOf('packed-refs')), directories: [] },
  }
}

/** The repositories with those directories around them that a landing makes. */
export function withDirectories(
  made: NonNullable<ViewState['made']>,
  changed: readonly DirectoryChange[] = [],
): NonNullable<ViewState['made']> {
  const fresh = changed.flatMap((each) => (each.type === 'make' ? [each.key] : []))
  return made.map((each) => ({ ...each, directories: fresh.filter((key) => isInside(each.path, key)) }))
}

/** Whether all these repositories are there. */
export function areMadeThere(made: NonNullable<ViewState['made']>): boolean {
  return made.every(
    ({ path }) => lstatSync(encodePath(join(path, '.git/HEAD')), { throwIfNoEntry: false }) !== undefined,
  )
}

/**
 * Removes the repositories that a landing made, and the directories around them that are empty then, once their files have been removed.
 *
 * @returns a sentence for each repository that stays, because somebody has changed it since
 */
export async function removeMade(made: ViewState['made'] = []): Promise<readonly string[]> {
  const stayed: string[] = []
  for (const { path, state, directories } of made) {
    const git = join(path, '.git')
    if (lstatSync(encodePath(git), { throwIfNoEntry: false }) === undefined) continue
    if (!isRemadeAsItWas(git, state)) {
      stayed.push(`${path}: the repository stays, because its refs have changed since`)
      continue
    }
    await removeTree(git)
    for (const each of [...directories].toSorted((one, other) => other.length - one.length)) {
      try {
        rmdirSync(encodePath(each))
      } catch {
        // It isn't empty, so somebody has put something in it since.
      }
    }
  }
  return stayed
}
