import { execa } from 'execa'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished } from 'vitest'
import { version } from '../../engine/core/version.ts'
import { call, freeform, say, startMockOpenAI } from '../support/mock-openai.ts'
import { testUnless, whyNoBubblewrap } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

const name = `portcullis-${version}-${process.platform}-${process.arch}`
const archive = new URL(`../../release/${name}.tar.gz`, import.meta.url).pathname
const missing = existsSync(archive) ? undefined : 'the folder of agent is not built: run `npm run release`'

/** A system with the archive unpacked in /opt, a shell, git and bubblewrap, but without Node. Of the libraries, it has only those of a minimal Debian. */
function systemWithoutNode(): string {
  const root = tempDir({ 'etc/passwd': 'root:x:0:0::/home:/bin/sh\n', 'work/a.txt': 'one\n' })
  for (const folder of ['opt', 'home', 'tmp', 'proc', 'dev', 'usr/bin'])
    mkdirSync(join(root, folder), { recursive: true })
  execFileSync('tar', ['-xzf', archive, '-C', join(root, 'opt')])
  const names = ['sh', 'cat', 'mkfifo', 'readlink', 'git', 'bwrap']
  const programs = names.map((one) =>
    execFileSync('sh', ['-c', `realpath "$(command -v ${one})"`], { encoding: 'utf8' }).trim(),
  )
  const libraries = [...programs, process.execPath].flatMap((program) =>
    [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(?:=> |^\s*)(\/\S+) \(/gm)].map(
      ([, path]) => path ?? '',
    ),
  )
  for (const path of new Set(libraries.filter((one) => !basename(one).startsWith('libatomic')))) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    copyFileSync(path, join(root, path))
  }
  for (const [at, one] of names.entries()) copyFileSync(programs[at] ?? '', join(root, 'usr/bin', one))
  symlinkSync('usr/bin', join(root, 'bin'))
  // The program is found through two symlinks, one of which is relative.
  symlinkSync(`../../opt/${name}/bin/agent`, join(root, 'usr/bin/agent-1'))
  symlinkSync('/usr/bin/agent-1', join(root, 'usr/bin/agent'))
  for (const words of [
    ['init', '-q'],
    ['add', '-A'],
    ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'first'],
  ])
    execFileSync('git', words, { cwd: join(root, 'work') })
  return root
}

testUnless(missing ?? whyNoBubblewrap())(
  'agent runs on a system without Node: its tools, its sandbox, and the transaction',
  async () => {
    const root = systemWithoutNode()
    const replies = [
      [
        call('exec_command', { cmd: 'command -v node || echo no node; cat a.txt' }),
        call('read_file', { path: 'a.txt' }),
        call('grep', { pattern: 'one' }),
      ],
      [freeform('apply_patch', '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n')],
      [say('Done.')],
    ]
    const mock = await startMockOpenAI({ replies })
    onTestFinished(() => mock.close())
    const started = async (...words: readonly string[]) => {
      const system = [
        '--bind',
        root,
        '/',
        '--bind',
        '/proc',
        '/proc',
        '--dev',
        '/dev',
        '--chdir',
        '/work',
        '--clearenv',
      ]
      const variables = {
        PATH: '/usr/bin',
        HOME: '/home',
        OPENAI_API_KEY: 'sk-test-key',
        OPENAI_BASE_URL: mock.baseUrl,
      }
      const set = Object.entries(variables).flatMap(([key, value]) => ['--setenv', key, value])
      const ended = await execa('bwrap', [...system, ...set, '--', ...words], { stdin: 'ignore', reject: false })
      return { stdout: ended.stdout, stderr: ended.stderr, code: ended.exitCode }
    }
    for (const words of [['agent'], ['/usr/bin/agent-1'], ['sh', '-c', `cd /opt/${name}/bin && sh agent --version`]])
      expect(await started(...words, '--version')).toEqual({ stdout: version, stderr: '', code: 0 })
    const { stdout, stderr, code } = await started('agent', 'exec', '--json', '-m', 'gpt-5', 'go')
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toContain('no node\\none')
    expect(readFileSync(join(root, 'work/a.txt'), 'utf8')).toBe('two\n')
    const items = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { item?: { status?: string } }).item?.status)
    expect(items).not.toContain('failed')
  },
)
