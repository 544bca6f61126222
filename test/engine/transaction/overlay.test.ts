import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { openRun } from '../../../engine/app/open-run.ts'
import { agent } from '../../support/agent.ts'
import { say } from '../../support/mock-openai.ts'
import { needsBubblewrap, testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { execAtTerminal } from '../../support/terminal.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { secret } from '../../sandbox/battery/places.ts'
import { planted, realOnly, viewProbes } from '../../sandbox/battery/view-probes.ts'
import { fingerprint } from './fingerprint.ts'
import {
  asNobody,
  cmd,
  giveToNobody,
  onOverlay,
  outputOf,
  reportOf,
  whyNoOverlay,
  whyNotAsNobody,
} from './overlay-runs.ts'

needsBubblewrap()
const missing = whyNoBubblewrap() ?? whyNoOverlay()
const overlayTest = testUnless(missing)
const asNobodyTest = testUnless(missing ?? whyNotAsNobody())
const read = (cwd: string, path: string): string => readFileSync(join(cwd, path), 'utf8')

/** What a tree contains, except git's own files. */
const facts = (cwd: string): string =>
  execFileSync(
    'sh',
    [
      '-c',
      'find . -name .git -prune -o -printf "%P %y %m %l\n" | sort; find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum',
    ],
    { cwd },
  ).toString()

const changes = [
  'echo changed > a.txt; rm b.txt; chmod 755 run.sh; touch same.txt; cp same.txt s && mv s same.txt',
  // In the upper directory, the new directory is opaque, which only its extended attributes show.
  'rm -r replaced; mkdir replaced; echo new > replaced/new.txt',
  'rm -r gone; rm -r directory; echo file > directory; rm file; mkdir -p file/deep; echo in > file/deep/in.txt',
  'mkdir -p n/e; ln -s a.txt link; printf "\\0" > bin; echo one >> hard1; mv moved.txt elsewhere.txt',
].join('; ')

const files = {
  'a.txt': 'a\n',
  'b.txt': 'b\n',
  'run.sh': '#!/bin/sh\n',
  'same.txt': 'same\n',
  'replaced/old.txt': 'old\n',
  'replaced/d/old.txt': 'old\n',
  'gone/d/x.txt': 'x\n',
  'directory/y.txt': 'y\n',
  file: 'file\n',
  hard1: 'hard\n',
  'moved.txt': 'm\n',
}

overlayTest(
  'a run on an overlay lands the same result as its commands in the tree, and is reverted completely',
  async () => {
    const [cwd, plain, home] = [repository(files), tempDir(), tempDir()]
    execFileSync('cp', ['-a', `${cwd}/.`, plain])
    const before = facts(cwd)
    const ended = await onOverlay(cwd, [cmd(`pwd; env; ${changes}`)], { home })
    execFileSync('sh', ['-c', changes], { cwd: plain })
    expect(reportOf(ended)).toMatchObject({ strategy: 'overlay', outcome: 'landed', can_undo: true, conflicts: [] })
    expect(facts(cwd)).toBe(facts(plain))
    expect(outputOf(ended)).toContain(`${cwd}\n`)
    expect(outputOf(ended)).not.toContain('PORTCULLIS_STARTED_FOR')
    const undone = await agent(['undo', '--last'], { cwd, home })
    expect([undone.code, facts(cwd)]).toEqual([0, before])
    // The overlay and its storage are gone.
    const [first] = ended.events
    expect(readdirSync(first?.type === 'thread.started' ? first.config.session_dir : '')).not.toContain('view')
  },
)

asNobodyTest('an overlay needs no privileges: it works the same for a user without any', async () => {
  const [cwd, plain, home] = [repository(files), tempDir(), tempDir()]
  execFileSync('cp', ['-a', `${cwd}/.`, plain])
  execFileSync('sh', ['-c', changes], { cwd: plain })
  giveToNobody(cwd, home)
  const ended = await onOverlay(
    cwd,
    [
      cmd(
        `id -u; ${changes}; git add -A && git -c user.name=x -c user.email=x@x commit -qm first && git log --format=%s`,
      ),
    ],
    {
      home,
      startedBy: asNobody,
    },
  )
  expect(reportOf(ended)).toMatchObject({ outcome: 'landed', commits: [{ path: cwd, moved: {} }], repositories: [] })
  expect(facts(cwd)).toBe(facts(plain))
  expect(outputOf(ended)).toContain('65534\n')
  const [setpriv = '', ...words] = asNobody
  expect(execFileSync(setpriv, [...words, 'git', 'log', '--format=%s'], { cwd }).toString()).toBe('first\n')
})

overlayTest(
  'on an overlay, the tree has its mode and time, and git status reads only the directories that commands have changed',
  async () => {
    const cwd = repository({ 'a/b/c.txt': 'c\n', 'd/e.txt': 'e\n', 'f/g/h/i.txt': 'i\n', '.gitignore': 'ignored\n' })
    execFileSync('git', ['add', '.'], { cwd })
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'x'], { cwd })
    // Git reads a directory again if it may have changed in the second in which the index was written.
    execFileSync('touch', ['-d', '1 hour ago', '.', 'a', 'a/b', 'd', 'f', 'f/g', 'f/g/h'], { cwd })
    chmodSync(cwd, 0o751)
    const traced = "GIT_TRACE2_PERF=1 git status --porcelain 2>&1 | grep -oE 'opendir:[0-9]+|^.. .*'"
    const ended = await onOverlay(cwd, [
      cmd('git add .; git status --porcelain; stat -c %A .; echo first'),
      cmd(traced),
      cmd(`echo new > a/b/new.txt; echo x > d/ignored; ${traced}`),
      cmd(`rm a/b/new.txt; mkdir a/deep; echo y > a/deep/y.txt; git mv d/e.txt d/f.txt; ${traced}`),
    ])
    const outputs = ended.events.flatMap((event) =>
      event.type === 'item.completed' && event.item.type === 'command_execution' ? [event.item.aggregated_output] : [],
    )
    expect(outputs[0]).toBe('drwxr-x--x\nfirst\n')
    expect(outputs[1]).toBe('opendir:0\n')
    expect(outputs[2]).toMatch(/^opendir:[2-4]\n\?\? a\/b\/new\.txt\n$/)
    expect(outputs[3]?.split('\n').filter((line) => !line.startsWith('opendir'))).toEqual([
      'R  d/e.txt -> d/f.txt',
      '?? a/deep/',
      '',
    ])
    // The host's repository contains neither git's untracked cache nor the setting that turns it on.
    expect(read(cwd, '.git/config')).not.toContain('untracked')
    expect(read(cwd, '.git/index')).not.toContain('UNTR')
  },
)

overlayTest('git trusts its index on an overlay, and does not read all files again', async () => {
  const cwd = repository({ 'a.txt': 'a\n' })
  execFileSync('sh', ['-c', 'git add . && touch -d 2020-01-01 a.txt && git update-index --refresh'], { cwd })
  // The owner in git's index must be the one that commands see, whoever owns the files in the sandbox.
  const line = 'git ls-files --debug | grep -o "[ug]id: [0-9]*" | tr "\\n" " "; stat -c "uid: %u gid: %g " a.txt'
  const [known, shown] = outputOf(await onOverlay(cwd, [cmd(line)])).split(/(?<=gid: \d+ )/)
  expect(shown).toMatch(/uid: \d+ gid: \d+ $/)
  expect(known).toBe(shown)
})

overlayTest.each([
  ['on the same file system', () => tempDir()],
  [
    'on another file system',
    () => {
      const home = mkdtempSync('/dev/shm/portcullis-test-')
      onTestFinished(() => rmSync(home, { recursive: true, force: true }))
      return home
    },
  ],
])('an overlay whose files are %s knows what the run removed, and what others put there meanwhile', async (_, make) => {
  const [cwd, home] = [repository({ 'again/old.txt': 'o\n', 'back/x.txt': 'x\n', 'kept/y.txt': 'y\n' }), make()]
  const sh = (text: string): void => void execFileSync('sh', ['-c', text], { cwd })
  const by = 'git -c user.name=x -c user.email=x@x'
  sh(`git add . && ${by} commit -qm first && echo u > again/untracked.txt && git branch -M main`)
  sh(`git checkout -q -b without && git rm -rq back && ${by} commit -qm second && git checkout -q main`)
  const ended = await exec(
    (index) => {
      if (index === 1) sh('git checkout -q without && git checkout -q main && echo theirs > kept/theirs.txt')
      return index === 0
        ? cmd(
            'rm -r again; mkdir again; echo n > again/new.txt; echo n > back/new.txt; echo n > kept/new.txt; rm kept/y.txt',
          )
        : [say('done')]
    },
    ['--json', '--view=overlay', 'x'],
    { cwd, home },
  )
  expect(reportOf(ended)).toMatchObject({ outcome: 'landed', strategy: 'overlay', conflicts: [] })
  expect(['again', 'back', 'kept'].map((name) => readdirSync(join(cwd, name)))).toEqual([
    ['new.txt'],
    ['new.txt', 'x.txt'],
    ['new.txt', 'theirs.txt'],
  ])
})

overlayTest('an overlay is chosen for a tree that is too large to copy', async () => {
  const cwd = repository({ 'a.txt': 'a\n', 'large.bin': '' })
  truncateSync(join(cwd, 'large.bin'), 1_000_000_001)
  const before = fingerprint(join(cwd, '.git'))
  const ended = await onOverlay(cwd, [cmd('echo x > a.txt')], { how: 'auto' })
  expect(ended.events[0]).toMatchObject({ config: { transaction: { strategy: 'overlay' } } })
  expect([ended.code, read(cwd, 'a.txt'), fingerprint(join(cwd, '.git'))]).toEqual([0, 'x\n', before])
})

overlayTest.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)(
  'a run on an overlay that is ended by %s has changed nothing; what it did is looked at, gone on with, and applied',
  async (signal) => {
    const [cwd, home] = [repository(files), tempDir()]
    const before = fingerprint(cwd)
    let end = (): void => undefined
    const ended = await exec(
      (index) => {
        if (index === 1) end()
        return index === 0 ? cmd(changes) : cmd('sleep 60')
      },
      ['--json', '--view=overlay', 'x'],
      { cwd, home, onStart: (child) => (end = () => void child.kill(signal)) },
    )
    const codes = { SIGKILL: null, SIGINT: 130, SIGTERM: 143 }
    expect([ended.code, fingerprint(cwd)]).toEqual([codes[signal], before])
    const shown = await agent(['changes', '--last'], { cwd, home })
    expect([shown.code, shown.stderr]).toEqual([0, expect.stringMatching(/^The newest run here: \S+\n$/)])
    expect(shown.stdout).toContain('M a.txt  +1 -1\n')
    expect(fingerprint(cwd)).toEqual(before)
    if (signal === 'SIGINT') {
      const resumed = await exec(
        [cmd('cat a.txt; echo more > more.txt'), [say('done')]],
        ['--json', 'resume', '--last', 'go on'],
        { cwd, home },
      )
      expect([resumed.code, outputOf(resumed), read(cwd, 'more.txt')]).toEqual([0, 'changed\n', 'more\n'])
    } else {
      expect((await agent(['apply', '--last'], { cwd, home })).code).toBe(0)
    }
    const plain = repository(files)
    execFileSync('sh', ['-c', `${changes}${signal === 'SIGINT' ? '; echo more > more.txt' : ''}`], { cwd: plain })
    expect(facts(cwd)).toBe(facts(plain))
  },
)

overlayTest(
  'changes of a run that is at work are not looked at: an overlay that is mounted twice is broken',
  async () => {
    const [cwd, home] = [repository(files), tempDir()]
    let asked: ReturnType<typeof agent> | undefined
    const ended = await exec(
      (index) => {
        if (index === 1) asked = agent(['changes', '--last'], { cwd, home })
        return [cmd('echo x > a.txt'), cmd('sleep 2; cat a.txt')][index] ?? [say('done')]
      },
      ['--json', '--view=overlay', 'x'],
      { cwd, home },
    )
    expect([ended.code, outputOf(ended)]).toEqual([0, 'x\n'])
    expect(await asked).toMatchObject({ code: 2, stderr: expect.stringContaining('is running this session') })
  },
)

overlayTest('a run on an overlay reads its prompt from standard input, and has its terminal', async () => {
  const cwd = repository({ 'a.txt': 'a\n' })
  const piped = await exec([[say('done')]], ['--view=overlay', '-'], { cwd, stdin: 'the words' })
  expect([piped.code, piped.stdout]).toEqual([0, 'done\n'])
  expect(JSON.stringify(piped.requests[0])).toContain('the words')
  const shown = await execAtTerminal(
    [cmd('touch b.txt'), [say('done')]],
    ['--view=overlay', '--ask-for-approval', 'untrusted', 'x'],
    [{ after: '[y/', text: 'y\n' }],
    { cwd },
  )
  expect([shown.code, existsSync(join(cwd, 'b.txt'))]).toEqual([0, true])
})

overlayTest('no program that a command has planted in PATH takes part in mounting an overlay', async () => {
  const [cwd, marker] = [repository({ 'a.txt': 'a\n' }), join(tempDir(), 'ran')]
  const planted = join(cwd, 'node_modules/.bin')
  mkdirSync(planted, { recursive: true })
  for (const name of ['mount', 'unshare', 'setpriv', 'du', 'sh', 'true'])
    writeFileSync(join(planted, name), `#!/bin/sh\necho ${name} >> ${marker}\n`, { mode: 0o755 })
  const ended = await onOverlay(cwd, [cmd('echo x > a.txt')], { env: { PATH: `${planted}:${process.env['PATH']}` } })
  expect([ended.code, read(cwd, 'a.txt'), existsSync(marker)]).toEqual([0, 'x\n', false])
})

overlayTest('a run that can’t have an overlay says why, and what would help', async () => {
  const cwd = repository({ 'a.txt': 'a\n' })
  const before = fingerprint(cwd)
  const home = tempDir()
  // The program's state is stored on an overlay here, and the upper directory of another overlay can't be on an overlay.
  const onAnother = [
    'unshare',
    '--mount',
    'sh',
    '-c',
    `cd ${home} && mkdir l u w .local && mount -t overlay o -o lowerdir=l,upperdir=u,workdir=w .local && cd - >/dev/null && exec "$@"`,
    'sh',
  ]
  const refused = await onOverlay(cwd, [], { home, startedBy: onAnother })
  expect([refused.code, refused.requests.length, fingerprint(cwd)]).toEqual([5, 0, before])
  expect(refused.stdout).toContain('no overlay can be stored on this file system')
  expect(refused.stdout).toContain('Use --view=copy, which copies a tree of any size')
  const docker = await onOverlay(cwd, [], { args: ['-c', 'sandbox_backend="docker"'] })
  expect([docker.code, docker.stdout]).toEqual([5, expect.stringContaining("the docker daemon can't see an overlay")])
})

overlayTest('a program that embeds the engine can’t have an overlay, and gets an error', async () => {
  const cwd = repository({ 'a.txt': 'a\n' })
  const run = openRun({
    task: { type: 'prompt', prompt: 'x' },
    workspace: cwd,
    environment: { HOME: tempDir(), XDG_STATE_HOME: tempDir(), OPENAI_API_KEY: 'x' },
    transaction: { strategy: 'overlay' },
  })
  await expect(run.result).rejects.toMatchObject({
    reason: 'sandboxUnavailable',
    message: expect.stringContaining('such as that of agent exec'),
  })
  await run.close()
})

overlayTest('a mount below the workspace is not overlaid', async () => {
  const cwd = repository({ 'a.txt': 'a\n', 'm/below.txt': 'b\n' })
  const mounting = ['unshare', '--mount', 'sh', '-c', `mount -t tmpfs none ${cwd}/m && exec "$@"`, 'sh']
  const refused = await onOverlay(cwd, [], { startedBy: mounting })
  expect([refused.code, refused.stdout]).toEqual([5, expect.stringContaining(`${cwd}/m is mounted in the tree`)])
  // A copy contains what is mounted in the tree.
  const copied = await onOverlay(cwd, [cmd('ls m; echo x > a.txt')], { how: 'auto', startedBy: mounting })
  expect([copied.code, outputOf(copied), read(cwd, 'a.txt')]).toEqual([0, '', 'x\n'])
})

overlayTest('the model is told why a directory cannot be renamed on an overlay, and what to do', async () => {
  const cwd = repository({ 'd/a.txt': 'a\n' })
  execFileSync('sh', ['-c', 'git add . && git -c user.name=x -c user.email=x@x commit -qm x'], { cwd })
  const ended = await onOverlay(cwd, [cmd('git mv d e'), cmd('mv d e && git add -A d e; git status --short')])
  const told = JSON.stringify(ended.requests[1])
  expect(told).toContain('Invalid cross-device link')
  expect(told).toContain("[transaction: overlay] Directories that existed when the run began can't be renamed")
  expect(outputOf(ended)).toContain('R  d/a.txt -> e/a.txt\n')
  expect([ended.code, readdirSync(cwd), read(cwd, 'e/a.txt')]).toEqual([0, ['.git', 'e'], 'a\n'])
})

/** Runs probes on an overlay. They try to access the tree below the overlay, and the overlay's storage, and must fail. */
async function escape(startedBy: readonly string[] = []): Promise<void> {
  const [cwd, home] = [repository({ [realOnly]: secret }), tempDir()]
  const state = join(home, '.local/state/portcullis')
  const places = { workspace: cwd, keptIn: state, source: join(state, 'mounted') }
  for (const [index, { script }] of viewProbes.entries()) writeFileSync(join(cwd, `probe-${index}.sh`), script(places))
  if (startedBy.length > 0) giveToNobody(cwd, home)
  // After the first command, the file is still in the tree below the overlay, but no longer in the overlay.
  const steps = [cmd(`rm ${realOnly}`), cmd('for probe in probe-*.sh; do echo trying $probe; sh $probe; done')]
  const ended = await onOverlay(cwd, steps, { home, startedBy, args: ['--land', 'never'] })
  expect(outputOf(ended).match(/trying/g)).toHaveLength(viewProbes.length)
  expect(outputOf(ended)).not.toContain('GOT')
  expect([planted(places), read(cwd, realOnly)]).toEqual([[], secret])
}

overlayTest('commands can’t access the tree below an overlay or its storage, and can’t unmount it', () => escape())
asNobodyTest('the same holds for a user without privileges', () => escape(asNobody))
