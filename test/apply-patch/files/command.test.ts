/** These tests kill the program at each system call that can change the file system, and then run it again to recover. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inPairs, killAt, runPlainly, traceCalls, untilStruck, whyNoStrace, type Call } from './strace.ts'
import { makeScene, snapshot, type Layout } from './tree-tools.ts'

const missing = whyNoStrace()
const skipped = missing !== undefined && process.env['CI'] !== 'true'

const layout: Layout = {
  'updated.txt': { mode: 0o640, text: 'one\r\ntwo\r\n' },
  'deleted.txt': 'deleted\n',
  'from.txt': { mode: 0o755, text: 'before\n' },
  'renamed.bin': { mode: 0o751, text: 'renamed\0\xff' },
  'file-then-directory': 'file\n',
}
const patch = `*** Begin Patch
*** Update File: updated.txt
@@
-two
+TWO
*** Add File: made/deeper/added.txt
+added
*** Delete File: deleted.txt
*** Update File: from.txt
*** Move to: moved/edited.txt
@@
-before
+after
*** Update File: renamed.bin
*** Move to: moved/renamed.bin
*** Delete File: file-then-directory
*** Add File: file-then-directory/inner
+inner
*** End Patch
`

const folder = mkdtempSync(join(tmpdir(), 'patch-files-'))
const program = join(folder, 'dist/apply-patch/main.js')
const repository = new URL('../../../', import.meta.url).pathname
beforeAll(async () => {
  mkdirSync(join(folder, 'dist/apply-patch'), { recursive: true })
  copyFileSync(join(repository, 'package.json'), join(folder, 'package.json'))
  const banner = { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" }
  const entryPoints = [join(repository, 'apply-patch/main.ts')]
  await build({
    entryPoints,
    outdir: join(folder, 'dist/apply-patch'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    banner,
  })
})
afterAll(() => rmSync(folder, { recursive: true }))

/**
 * Creates a tree, and returns it with the commands that run the program in it. The tree isn't in the temporary directory, because other tests may be
 * committing to a tree whose root is that directory. Before a commit, the program looks for unfinished commits in all enclosing trees, and makes more
 * system calls if there is one.
 */
function prepare() {
  const scene = makeScene(layout, '/var/tmp')
  const command = (...given: readonly string[]): readonly string[] => {
    return [process.execPath, '--single-threaded', program, ...given]
  }
  const env = { XDG_STATE_HOME: scene.state, HOME: scene.base }
  const unfinished = () => Object.keys(snapshot(scene.state)).filter((name) => /\/(?:active|failed)-/.test(name))
  return { ...scene, command, env, unfinished, look: () => snapshot(scene.root) }
}

const apply = (root: string): readonly string[] => ['--root', root, patch]

/** Applies the patch to a new tree. Returns the system calls of the program, and what the tree looks like afterwards. */
async function rehearse() {
  const run = prepare()
  const calls = await traceCalls(run.command(...apply(run.root)), run.env, run.state)
  return { calls, fresh: run.look() }
}

/** Kills the program at one of its system calls, in a new tree. */
async function killedAt(wanted: Call) {
  const { run, killed, stderr } = await untilStruck(wanted, async (call) => {
    const run = prepare()
    return { run, ...(await killAt(call, run.command(...apply(run.root)), run.env)) }
  })
  if (!killed) throw new Error(`not killed at ${wanted.text}: ${stderr}`)
  return run
}

describe.skipIf(skipped)(`apply-patch${skipped ? ` (skipped: ${missing})` : ''}`, { timeout: 180_000 }, () => {
  test('killed at any system call leaves a tree that the next run recovers before it applies its patch', async () => {
    expect(missing).toBeUndefined()
    const old = prepare().look()
    const { calls, fresh } = await rehearse()
    expect(Object.keys(fresh)).toContain('file-then-directory/inner')
    expect(fresh['updated.txt']).toMatch(/one\r\nTWO\r\n$/)
    const outcomes = { old: 0, fresh: 0 }
    await inPairs(
      calls.filter(({ reads }) => !reads),
      async (call) => {
        const run = await killedAt(call)
        const [last] = [call.nth % 2 === 0 ? ['recover', '--root', run.root] : ['--check', ...apply(run.root)]]
        const { stderr } = await runPlainly(run.command(...last), run.env)
        const isFresh = JSON.stringify(run.look()) === JSON.stringify(fresh)
        expect(run.look(), `${call.text}\n${stderr}`).toEqual(isFresh ? fresh : old)
        expect(run.unfinished(), call.text).toEqual([])
        outcomes[isFresh ? 'fresh' : 'old'] += 1
      },
    )
    expect(outcomes.old).toBeGreaterThan(10)
    expect(outcomes.fresh).toBeGreaterThan(3)
  })

  test('killed, with files edited since, is named by recover and abandoned with --abandon, and the edits stay', async () => {
    const { calls } = await rehearse()
    const links = calls.filter(({ name }) => name.startsWith('rename'))
    const middle = links[Math.floor(links.length / 2)]
    if (middle === undefined) throw new Error('the program renames nothing')
    const run = await killedAt(middle)
    for (const name of Object.keys(layout)) writeFileSync(join(run.root, name), 'mine\n')
    const edited = run.look()
    const refused = await runPlainly(run.command('recover', '--root', run.root), run.env)
    expect(refused.stderr).toMatch(/^A crashed run can't be recovered: files were changed after the crash/)
    expect(refused.stderr).toContain(`not restored: ${run.root}/`)
    expect(refused.stderr).toContain('apply-patch recover --abandon')
    const ended = await runPlainly(run.command('recover', '--abandon', '--root', run.root), run.env)
    expect([ended.stderr, ended.stdout]).toEqual(['', expect.stringMatching(/^abandoned: \//)])
    const mine = (look: Record<string, string>) => Object.entries(look).filter(([, text]) => text.endsWith('mine\n'))
    expect(mine(run.look())).toEqual(mine(edited))
    expect(run.unfinished()).toEqual([])
  })

  test('undo reverts the patch, once', async () => {
    const run = prepare()
    const old = run.look()
    await runPlainly(run.command('--root', run.root, patch), run.env)
    expect(run.look()).not.toEqual(old)
    await runPlainly(run.command('undo', '--root', run.root), run.env)
    expect(run.look()).toEqual(old)
    const { stderr } = await runPlainly(run.command('undo', '--root', run.root), run.env)
    expect(stderr).toMatch(/nothing|no applied patch/i)
  })
})
