import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commitChangeSet, openTree, recover } from '../../../apply-patch/files/index.ts'
import { add, changeSet, update } from './change-tools.ts'
import {
  failAt,
  inPairs,
  killAt,
  mostTries,
  runPlainly,
  traceCalls,
  untilStruck,
  whyNoStrace,
  type Call,
} from './strace.ts'
import { makeScene, snapshot, type Layout } from './tree-tools.ts'
import { isRunning } from '../../support/is-running.ts'

const missing = whyNoStrace()
// On CI, the tests aren't skipped, so they fail if strace is missing.
const skipped = missing !== undefined && process.env['CI'] !== 'true'
const reason = skipped ? ` (skipped: ${missing})` : ''

const layout: Layout = {
  'updated.txt': { mode: 0o640, text: 'old\n' },
  'removed.txt': { mode: 0o600, text: 'removed\n' },
  link: { link: 'updated.txt' },
  'from.txt': { mode: 0o755, text: 'before the edit\n' },
  'renamed.txt': { mode: 0o751, text: 'renamed\0' },
  'over.txt': 'over\n',
  one: { mode: 0o700, text: 'one\n' },
  other: 'other\n',
  'file-then-directory': 'file\n',
  'gone/inner.txt': 'inner\n',
  'gone/empty': '/',
  'directory-then-file/inner.txt': 'inner\n',
  mode: '/',
}

const folder = mkdtempSync(join(tmpdir(), 'patch-files-'))
const driver = join(folder, 'driver.mjs')
beforeAll(async () => {
  // The driver is bundled into one file instead of thirty, because each test starts it hundreds of times.
  const entryPoints = [new URL('crash-driver.ts', import.meta.url).pathname]
  const banner = { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" }
  await build({ entryPoints, outfile: driver, bundle: true, platform: 'node', format: 'esm', banner })
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The operation to perform on the tree. `recover` continues after a commit that was killed when almost all files had been installed. */
type Work = {
  readonly action: 'commit' | 'undo' | 'recover'
  readonly durable?: boolean
  /** Simulates a file system without hard links. */
  readonly linkless?: boolean
}

/** Prepares `count` trees for an operation. Each is returned with the command that runs the operation in a separate process. */
async function prepare({ action, durable = false, linkless = false }: Work, count: number) {
  const runs = Array.from({ length: count }, () => {
    const scene = makeScene(layout)
    const command = (what: string): readonly string[] => {
      // This option turns off V8's helper threads, which open files at unpredictable times.
      return [process.execPath, '--single-threaded', driver, what, scene.root, durable ? 'durable' : '']
    }
    const env = {
      XDG_STATE_HOME: scene.state,
      HOME: scene.base,
      ...(linkless ? { LINKLESS: '1' } : {}),
    }
    const stateDirectory = join(scene.state, 'portcullis/apply-patch')
    return {
      env,
      command,
      work: command(action),
      look: () => snapshot(scene.root),
      root: scene.root,
      stateDirectory,
      recover: () => recover({ root: scene.root, stateDirectory }),
      unfinished: () => Object.keys(snapshot(scene.state)).filter((name) => /\/(?:active|failed)-/.test(name)),
    }
  })
  // Files that were changed a moment ago are compared byte by byte. After this wait, no file is that new, so it doesn't matter how long earlier runs
  // took.
  await sleep(150)
  if (action === 'undo') await inPairs(runs, async (run) => void (await runPlainly(run.command('commit'), run.env)))
  if (action === 'recover') await crashAll(runs, durable)
  if (action !== 'commit') await sleep(150)
  return runs
}

type Run = Awaited<ReturnType<typeof prepare>>[number]

/** Starts a commit in each tree, and kills the process as it installs the last file. */
async function crashAll(runs: readonly Run[], durable: boolean): Promise<void> {
  const { calls } = await rehearse({ action: 'commit', durable })
  const last = calls.findLast(({ text }) => text.endsWith('/inner") = 0'))
  if (last === undefined) throw new Error('nothing is installed')
  await inPairs(runs, async (run) => {
    const tried = await killAt(last, run.command('commit'), run.env)
    expect(tried).toMatchObject({ killed: true, missed: undefined })
  })
}

/** Runs an operation to completion. Returns what the tree looks like before and after, and all traced system calls. */
async function rehearse(work: Work) {
  const [run] = await prepare(work, 1)
  if (run === undefined) throw new Error('nothing prepared')
  const old = run.look()
  const calls = await traceCalls(run.work, run.env)
  const fresh = run.look()
  expect(fresh).not.toEqual(old)
  expect(calls.length).toBeGreaterThan(10)
  return { old, fresh, calls }
}

/** Runs an operation once for each item, each time in a separate tree. Runs in which the runtime's calls took the place of the item's call are repeated. */
async function tryEach<Item extends { readonly call: Call }>(
  work: Work,
  items: readonly Item[],
  act: (item: Item, run: Run) => Promise<Call | undefined>,
): Promise<void> {
  let rest = items
  for (let tries = 0; rest.length > 0; tries++) {
    if (tries === mostTries) throw new Error(`missed ${tries} times: ${rest.map(({ call }) => call.text).join('\n')}`)
    const again: Item[] = []
    const runs = await prepare(work, rest.length)
    await inPairs(
      rest.flatMap((item, index) => (runs[index] === undefined ? [] : [{ item, run: runs[index] }])),
      async ({ item, run }) => {
        const missed = await act(item, run)
        if (missed !== undefined) again.push({ ...item, call: missed })
      },
    )
    rest = again
  }
}

/**
 * For each kind of system call in the trace, returns a call after the last one that was traced. A process never makes these calls, so it ends without
 * being killed at one.
 */
function beyond(calls: readonly Call[]): readonly Call[] {
  const last = new Map(calls.map((call) => [call.name, call]))
  return [...last.values()].map((call) => ({ ...call, nth: call.nth + 1, text: 'beyond the last', reads: false }))
}

/**
 * Whether the process can be killed at a call. Without hard links, calls to link(2) are made to fail, and a call can't both fail and kill the
 * process. Killing the process at the next call is equivalent.
 */
function canKill({ linkless }: Work): (call: Call) => boolean {
  return ({ name }) => linkless !== true || !name.startsWith('link')
}

describe.skipIf(skipped)(`the tracer${reason}`, () => {
  test("a try that strikes a call of the runtime's own is ended, though the runtime may wait forever, and finds the call's number", async () => {
    const { calls } = await rehearse({ action: 'commit' })
    // Before the first write to a file, the runtime unlocks its signal handlers: a program that lists attributes has ended.
    const write = calls.find(({ name }) => name === 'write')
    if (write === undefined) throw new Error('nothing is written')
    const early = { ...write, besides: write.besides - 1 }
    const [run] = await prepare({ action: 'commit' }, 1)
    if (run === undefined) throw new Error('nothing prepared')
    const { missed } = await failAt(early, 'EIO', run.work, run.env)
    expect(missed).toMatchObject({ name: 'write', nth: write.nth, text: write.text })
    const { stdout } = await untilStruck(early, async (call) => {
      const [each] = await prepare({ action: 'commit' }, 1)
      if (each === undefined) throw new Error('nothing prepared')
      return failAt(call, 'EIO', each.work, each.env)
    })
    expect(stdout).toBe('unchanged system EIO\n')
  })

  test('a process that does not end is killed with its children, and the error names it', async () => {
    await expect(runPlainly(['sh', '-c', 'sleep 7371.5; true'], {}, 300)).rejects.toThrow(
      'not ended after 0.3 s: sh -c sleep 7371.5; true',
    )
    expect(isRunning('7371.5')).toBe(false)
  })
})

describe.skipIf(skipped)(`with every system call as the last one${reason}`, { timeout: 180_000 }, () => {
  test.each<Work>([
    { action: 'commit' },
    { action: 'commit', durable: true },
    { action: 'commit', linkless: true },
    { action: 'undo' },
    { action: 'recover' },
  ])(
    'a killed $action (durable: $durable, linkless: $linkless) leaves all old or, recovered, all old or all new',
    async (work) => {
      expect(missing).toBeUndefined()
      const { old, fresh, calls } = await rehearse(work)
      // For a recovery, only the state that it restores is expected, because the tree is neither all old nor all new when it starts.
      const ends = work.action === 'recover' ? { old: fresh, fresh } : { old, fresh }
      const seen = { old: 0, fresh: 0, between: 0 }
      await tryEach(
        work,
        [...calls.filter(({ reads }) => !reads), ...beyond(calls)].filter(canKill(work)).map((call) => ({ call })),
        async ({ call }, run) => {
          const { killed, missed } = await killAt(call, run.work, run.env)
          if (missed !== undefined) return missed
          expect(killed, JSON.stringify(call)).toBe(call.text !== 'beyond the last')
          const found = JSON.stringify(run.look())
          if (!Object.values(ends).some((end) => JSON.stringify(end) === found)) seen.between += 1
          await run.recover()
          const isFresh = JSON.stringify(run.look()) === JSON.stringify(ends.fresh)
          expect(run.look(), call.text).toEqual(isFresh ? ends.fresh : ends.old)
          expect(run.unfinished(), call.text).toEqual([])
          seen[isFresh ? 'fresh' : 'old'] += 1
          return undefined
        },
      )
      // Some processes were killed before the work, some during it, and some after it.
      const several = expect.toSatisfy((count: number) => count > 3)
      expect(seen).toEqual({ old: work.action === 'recover' ? 0 : several, fresh: several, between: several })
    },
  )
})

describe.skipIf(skipped)(`after a crash${reason}`, { timeout: 180_000 }, () => {
  test('a file that somebody has changed since is named and left alone, until the crashed run is abandoned', async () => {
    expect(missing).toBeUndefined()
    const [run] = await prepare({ action: 'recover' }, 1)
    if (run === undefined) throw new Error('nothing prepared')
    writeFileSync(join(run.root, 'updated.txt'), 'by hand\n')
    const failure = { code: 'unrecoverable', tree: 'incomplete', facts: { remains: [join(run.root, 'updated.txt')] } }
    await expect(run.recover()).rejects.toMatchObject(failure)
    expect(run.look()['updated.txt']).toMatch(/by hand\n$/)
    expect(run.unfinished()).toHaveLength(1)
    const tree = openTree(run.root, { unsafePaths: false })
    const set = changeSet(tree, [update(tree, 'updated.txt', 'x')])
    await expect(commitChangeSet(set, { stateDirectory: run.stateDirectory })).rejects.toMatchObject(failure)
    expect(await recover({ root: run.root, stateDirectory: run.stateDirectory, abandon: true })).toMatchObject([
      { outcome: 'abandoned' },
    ])
    expect(run.look()['updated.txt']).toMatch(/by hand\n$/)
    expect(run.unfinished()).toEqual([])
  })

  test('the next commit recovers the tree first, and recovery without a root finds every tree', async () => {
    expect(missing).toBeUndefined()
    const runs = await prepare({ action: 'recover' }, 2)
    const [one, other] = runs
    if (one === undefined || other === undefined) throw new Error('nothing prepared')
    const tree = openTree(one.root, { unsafePaths: false })
    const set = changeSet(tree, [add(tree, 'next.txt', 'next\n')])
    const { recovered } = await commitChangeSet(set, { stateDirectory: one.stateDirectory })
    expect(recovered).toMatchObject([{ root: tree.root, outcome: 'rolled-back' }])
    expect(recovered[0]?.paths).toContain('updated.txt')
    expect(one.look()['updated.txt']).toMatch(/ old\n$/)
    expect(one.look()['next.txt']).toMatch(/ next\n$/)
    expect(await recover({ stateDirectory: other.stateDirectory })).toMatchObject([{ outcome: 'rolled-back' }])
    expect(other.look()['updated.txt']).toMatch(/ old\n$/)
  })

  test('a run in a subdirectory of the tree also finds the crash', async () => {
    expect(missing).toBeUndefined()
    const [run] = await prepare({ action: 'recover' }, 1)
    if (run === undefined) throw new Error('nothing prepared')
    mkdirSync(join(run.root, 'folder'))
    const inFolder = { root: join(run.root, 'folder'), stateDirectory: run.stateDirectory }
    expect(await recover(inFolder)).toMatchObject([{ outcome: 'rolled-back' }])
    expect(run.look()['updated.txt']).toMatch(/ old\n$/)
    expect(await recover(inFolder)).toEqual([])
  })

  test('if it worked in two neighbouring trees, a run in either of them recovers both', async () => {
    expect(missing).toBeUndefined()
    const [rehearsed, ...runs] = await prepare({ action: 'commit' }, 3)
    if (rehearsed === undefined) throw new Error('nothing prepared')
    // The journals are stored outside the directory that contains both trees.
    const { state } = makeScene()
    const stateDirectory = join(state, 'portcullis/apply-patch')
    const env = ({ env: before }: Run) => ({ ...before, XDG_STATE_HOME: state })
    for (const { root } of [rehearsed, ...runs]) mkdirSync(`${root}.beside`)
    const calls = await traceCalls(rehearsed.command('commit-beside'), env(rehearsed))
    const last = calls.findLast(({ text }) => text.endsWith('/renamed.txt") = 0'))
    if (last === undefined) throw new Error('nothing is installed')
    for (const [at, run] of runs.entries()) {
      const old = run.look()
      const tried = await killAt(last, run.command('commit-beside'), env(run))
      expect(tried).toMatchObject({ killed: true, missed: undefined })
      expect(run.look()).not.toEqual(old)
      const tree = at === 0 ? run.root : `${run.root}.beside`
      expect(await recover({ root: tree, stateDirectory })).toMatchObject([{ outcome: 'rolled-back' }])
      expect([run.look(), snapshot(`${run.root}.beside`)]).toEqual([old, {}])
    }
  })

  test('another tree at the path of the crashed one is left alone', async () => {
    expect(missing).toBeUndefined()
    const [run] = await prepare({ action: 'recover' }, 1)
    if (run === undefined) throw new Error('nothing prepared')
    renameSync(run.root, `${run.root}.away`)
    mkdirSync(run.root)
    expect(await run.recover()).toMatchObject([{ outcome: 'obsolete' }])
    expect(run.look()).toEqual({})
  })
})

describe.skipIf(skipped)(`with a system call that fails${reason}`, { timeout: 180_000 }, () => {
  test.each<Work & { errors: readonly string[] }>([
    { action: 'commit', errors: ['ENOSPC', 'EIO', 'EACCES', 'EROFS'] },
    { action: 'commit', durable: true, errors: ['EIO'] },
    { action: 'commit', linkless: true, errors: ['EIO'] },
    { action: 'undo', errors: ['EIO'] },
  ])(
    'a $action (durable: $durable, linkless: $linkless, $errors) is done or changes nothing, and leaves nothing',
    async (work) => {
      expect(missing).toBeUndefined()
      const { old, fresh, calls } = await rehearse(work)
      const each = calls
        .filter(canKill(work))
        .flatMap((call) =>
          work.errors
            .filter((error) => !call.reads || (error === 'EIO' && work.errors.length > 1))
            .map((error) => ({ call, error })),
        )
      const outcomes = new Set<string>()
      await tryEach(work, each, async ({ call, error }, run) => {
        const { stdout, stderr, missed } = await failAt(call, error, run.work, run.env)
        if (missed !== undefined) return missed
        const said = stdout.split(/\s/)[0] ?? ''
        const label = `${error} at ${call.text}`
        expect({ said, stderr }, label).toEqual({
          said: expect.stringMatching(/^(?:committed|unchanged)$/),
          stderr: '',
        })
        expect(run.look(), label).toEqual(said === 'committed' ? fresh : old)
        expect(run.unfinished(), label).toEqual([])
        outcomes.add(said)
        return undefined
      })
      expect([...outcomes].toSorted()).toEqual(['committed', 'unchanged'])
    },
  )

  test('a rollback that also fails reports this, and recovery restores everything later', async () => {
    expect(missing).toBeUndefined()
    const work: Work = { action: 'commit' }
    const { old, calls } = await rehearse(work)
    const renames = calls.filter(({ name, text }) => name.startsWith('rename') && !text.includes('portcullis'))
    const said = new Set<string>()
    const items = renames.map((call) => ({ call }))
    await tryEach(work, items, async ({ call }, run) => {
      const { stdout, missed } = await failAt(call, 'EIO', run.work, run.env, true)
      if (missed !== undefined) return missed
      said.add(stdout.trim())
      if (stdout.startsWith('incomplete')) expect(run.unfinished()).toHaveLength(1)
      await run.recover()
      expect(run.look()).toEqual(old)
      expect(run.unfinished()).toEqual([])
      return undefined
    })
    expect([...said].toSorted()).toEqual(['incomplete system EIO', 'unchanged system EIO'])
  })
})
