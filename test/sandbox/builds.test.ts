import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { cp, mkdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { expect } from 'vitest'
import { openSandbox, parsePolicy, type Sandbox } from '../../sandbox/index.ts'
import { testUnless, type Test } from '../support/needs.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, codeOf, run, temporaryDirectory, type Ran } from './helpers.ts'

const fixtures = new URL('../../fixtures/sandbox/', import.meta.url).pathname

/** The path of a program on this machine; undefined if it is not installed. */
function programHere(name: string): string | undefined {
  const { stdout, status } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
  if (status === 0) return realpathSync(stdout.trim())
  return undefined
}

const [npm, make, compiler, cargo] = ['npm', 'make', 'cc', 'cargo'].map(programHere)

/** Expects that a command has done its work, and that nothing was denied. */
function expectDone(ran: Ran): void {
  expect(ran.result, `${ran.stdout}${ran.stderr}`).toMatchObject({ status: 'exited', code: 0, denials: [] })
}

function git(directory: string, ...args: readonly string[]): string {
  const named = ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]
  const { stdout, stderr, status } = spawnSync('git', named, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

describeInBoth('in %s', ({ backend, test, readableRoots }) => {
  /** Returns the test function for tests that need these programs. `undefined` stands for a program that is not installed on this machine. */
  const testWith = (...programs: readonly (string | undefined)[]): Test =>
    testUnless(programs.includes(undefined) ? 'npm, make, cc or cargo is not installed' : undefined, test)

  /** Opens a sandbox with a fixture's files in its workspace. */
  async function openWith(fixture?: string): Promise<Sandbox> {
    const workspace = await temporaryDirectory()
    if (fixture !== undefined) await cp(join(fixtures, fixture), workspace, { recursive: true })
    return openAt(workspace)
  }

  async function openAt(workspace: string): Promise<Sandbox> {
    const policy = parsePolicy({
      mode: 'workspace-write',
      workspace,
      // Node may be installed in a place that is private in the sandbox, such as /tmp.
      readableRoots,
      environment: { set: { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` } },
    })
    return closeLater(await openSandbox(policy, { backend, image }))
  }

  const identity = 'git config user.name a && git config user.email a@b'

  test('git init, add -A and commit work, and the host finds the commit afterwards', async () => {
    const sandbox = await openWith('package')
    expectDone(await run(sandbox, `git init -q && ${identity} && git add -A && git commit -qm first`))
    expectDone(await run(sandbox, 'git switch -qc topic && echo >> sum.js && git commit -qam second && git gc -q'))
    expect(git(sandbox.policy.workspace, 'log', '--topo-order', '--format=%s', '--all')).toBe('second\nfirst\n')
    expect(git(sandbox.policy.workspace, 'status', '--porcelain')).toBe('')
  })

  testWith(npm)('npm test', async () => {
    const ran = await run(await openWith('package'), 'npm test')
    expectDone(ran)
    expect(ran.stdout).toMatch(/pass 2/)
  })

  testWith(make, compiler)('make, of a program in C', async () => {
    const sandbox = await openWith('make')
    expectDone(await run(sandbox, `make -j4 check CC=${compiler}`))
    expect((await run(sandbox, 'make build/greet')).stdout).toContain('up to date')
    expectDone(await run(sandbox, `touch greet.h && make check CC=${compiler}`))
  })

  test('a build like cargo’s works: a locked target directory, hard links, renames, time stamps, many processes', async () => {
    const sandbox = await openWith('workshop')
    const { workspace } = sandbox.policy
    await mkdir(join(workspace, 'src'))
    for (let unit = 1; unit <= 24; unit += 1) await writeFile(join(workspace, `src/unit${unit}.txt`), `unit ${unit}\n`)
    const build = `"${process.execPath}" build.js`
    // Two builds run at once, as when an editor and its user each start one.
    const both = await Promise.all([run(sandbox, build), run(sandbox, build)])
    both.forEach(expectDone)
    expect(both.map(({ stdout }) => stdout).toSorted()).toEqual(['built 0, fresh 24\n', 'built 24, fresh 0\n'])
    const later = new Date(Date.now() + 5000)
    await utimes(join(workspace, 'src/unit7.txt'), later, later)
    expect((await run(sandbox, build)).stdout).toBe('built 1, fresh 23\n')
    expect(existsSync(join(workspace, 'target/debug/libunit7.rlib'))).toBe(true)
  })

  testWith(backend === 'bubblewrap' ? cargo : undefined)('cargo itself', async () => {
    const workspace = await temporaryDirectory()
    await mkdir(join(workspace, 'src'))
    await writeFile(join(workspace, 'Cargo.toml'), '[package]\nname = "greet"\nversion = "0.1.0"\nedition = "2021"\n')
    await writeFile(join(workspace, 'src/main.rs'), 'fn main() { println!("hello") }\n#[test]\nfn works() {}\n')
    const sandbox = await openAt(workspace)
    const PATH = `${dirname(cargo ?? '')}:/usr/bin:/bin`
    expectDone(await run(sandbox, 'cargo test --offline -q && cargo run --offline -q', { env: { PATH } }))
    expect(await readFile(join(workspace, 'Cargo.lock'), 'utf8')).toContain('greet')
    expect(codeOf(await run(sandbox, 'target/debug/greet'))).toBe(0)
  })
})
