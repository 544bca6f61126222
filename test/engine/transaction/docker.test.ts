import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { ensureImage, image, imageRoots } from '../../sandbox/docker-image.ts'
import { agent } from '../../support/agent.ts'
import { testUnless, testUnlessOnCi, whyNoDocker } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { mountXfs } from '../../support/loop-file-system.ts'
import { expectOnlyJudged, plantings } from './default-mode-plantings.ts'
import { cmd, onOverlay, outputOf, reportOf } from './overlay-runs.ts'

const missing = whyNoDocker()
beforeAll(() => {
  if (missing === undefined) ensureImage()
})
const xfs = missing === undefined ? mountXfs(512) : missing
afterAll(() => (typeof xfs === 'string' ? undefined : xfs.close()))

const inDocker = [
  ['-c', 'sandbox_backend="docker"', '-c', `sandbox_image="${image}"`],
  ['-c', `sandbox_read.allow=${JSON.stringify(imageRoots)}`],
].flat()
const by = '-c user.name=x -c user.email=x@x'

/** A repository with a commit. */
function makeTree(cwd: string): string {
  mkdirSync(cwd, { recursive: true })
  const script = `git init -qb main && printf 'a\\n' > a.txt && printf 'out\\n' > .gitignore && mkdir d && echo d > d/d.txt && git add . && git ${by} commit -qm first`
  execFileSync('sh', ['-c', script], { cwd })
  return cwd
}

const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', words, { cwd, encoding: 'utf8' }).trimEnd()

const changes = `pwd; git mv d moved && echo x > a.txt && git ${by} commit -qam second && mkdir out && echo o > out/o && echo new > new.txt`

async function works(cwd: string, home: string, how: string, strategy: string): Promise<void> {
  const ended = await onOverlay(cwd, [cmd(changes)], { how, home, args: [...inDocker] })
  const report = reportOf(ended)
  expect([ended.code, outputOf(ended)]).toEqual([0, `${cwd}\n`])
  expect(report).toMatchObject({ strategy, outcome: 'landed', ignored: { files: 1 }, commits: [{ moved: {} }] })
  expect([git(cwd, 'log', '--format=%s'), git(cwd, 'status', '--porcelain')]).toEqual(['second\nfirst', '?? new.txt'])
  expect(readFileSync(join(cwd, 'moved/d.txt'), 'utf8')).toBe('d\n')
  expect(await agent(['undo', '--last'], { cwd, home })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Reverted/),
  })
  expect([git(cwd, 'log', '--format=%s'), git(cwd, 'status', '--porcelain')]).toEqual(['first', ''])
}

testUnlessOnCi(missing)('a run in docker is a transaction on a copy, at the path of the workspace', async () => {
  await works(makeTree(join(tempDir(), 'tree')), tempDir(), 'copy', 'copy')
})

testUnless(typeof xfs === 'string' ? xfs : undefined)(
  'a run in docker is a transaction on a clone where the file system shares blocks',
  async () => {
    const place = typeof xfs === 'string' ? '' : xfs.directory
    mkdirSync(join(place, 'home'))
    await works(makeTree(join(place, 'tree')), join(place, 'home'), 'auto', 'reflink')
  },
)

testUnlessOnCi(missing)('a run in docker that fails leaves the tree as it was', async () => {
  const [cwd, home] = [makeTree(join(tempDir(), 'tree')), tempDir()]
  const verify = ['--verify', 'test -e never', '--verify-attempts', '1']
  const ended = await onOverlay(cwd, [cmd(changes)], { how: 'copy', home, args: [...inDocker, ...verify] })
  expect([ended.code, reportOf(ended)?.outcome]).toEqual([1, 'kept'])
  expect([git(cwd, 'status', '--porcelain', '--ignored'), git(cwd, 'branch', '--list')]).toEqual(['', '* main'])
  expect(existsSync(join(cwd, 'out'))).toBe(false)
})

testUnlessOnCi(missing)('a run in docker is refused an overlay, before anything happens', async () => {
  const cwd = makeTree(join(tempDir(), 'tree'))
  const ended = await onOverlay(cwd, [], { args: inDocker })
  expect([ended.code, ended.requests.length]).toEqual([5, 0])
  expect(ended.stdout).toContain("the docker daemon can't see an overlay")
})

testUnlessOnCi(missing).each(plantings)(
  'after a run in docker, only what was judged has landed: %s',
  async (_, command) => {
    await expectOnlyJudged(command, ...inDocker)
  },
)

testUnlessOnCi(missing)(
  'where a container mounts the workspace alone, what the run made and committed lands there',
  () => {
    const [cwd, home] = [makeTree(join(tempDir(), 'tree')), tempDir()]
    const recording = [
      { portcullis_replay: 1 },
      { events: [{ type: 'tool_call', id: 'call_1', name: 'exec_command', arguments: { cmd: changes } }] },
      { events: [{ type: 'message', text: 'done' }] },
    ]
    writeFileSync(join(home, 'run.jsonl'), recording.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const root = new URL('../../..', import.meta.url).pathname
    const shown = ['/usr', join(root, 'dist'), join(root, 'node_modules'), dirname(process.execPath)]
    const { status, stderr } = spawnSync(
      'docker',
      [
        ...['run', '--rm', '--network', 'none', '-e', 'HOME=/home/me', '-w', '/ws'],
        // What the program advises where it finds that bubblewrap can't work in a container.
        ...['--security-opt', 'seccomp=unconfined', '--security-opt', 'systempaths=unconfined'],
        ...shown.flatMap((path) => ['-v', `${realpathSync(path)}:${path}:ro`]),
        ...['-v', `${cwd}:/ws`, '-v', `${home}:/home/me`, image],
        ...[process.execPath, join(root, 'dist/bin/agent.js'), 'exec', '-m', 'replay:/home/me/run.jsonl', 'go'],
      ],
      { encoding: 'utf8' },
    )
    expect(status, stderr).toBe(0)
    expect([git(cwd, 'log', '--format=%s'), git(cwd, 'status', '--porcelain')]).toEqual(['second\nfirst', '?? new.txt'])
    expect([readFileSync(join(cwd, 'moved/d.txt'), 'utf8'), readFileSync(join(cwd, 'out/o'), 'utf8')]).toEqual([
      'd\n',
      'o\n',
    ])
  },
)
