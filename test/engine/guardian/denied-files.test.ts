import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, repository } from '../../support/workspace.ts'

const deny = (...entries: readonly string[]): string => JSON.stringify({ permissions: { deny: entries } })
const run = (cmd: string) => call('exec_command', { cmd })

/** Performs a run that executes these texts as scripts. What a script does can't be seen in the command line that starts it. */
async function scripts(
  files: Readonly<Record<string, string>>,
  texts: readonly string[],
): Promise<{ readonly cwd: string; readonly outputs: string; readonly ended: Awaited<ReturnType<typeof exec>> }> {
  const named = Object.fromEntries(texts.map((text, at) => [`run-${at}.sh`, text]))
  const cwd = repository({ ...files, ...named })
  const calls = texts.map((_, at) => [run(`sh ./run-${at}.sh 2>&1`)])
  const ended = await exec([...calls, [say('ok')]], ['--json', 'x'], { cwd })
  expect(ended.code).toBe(0)
  return { cwd, outputs: JSON.stringify(ended.requests.at(-1)?.body), ended }
}

describe.skipIf(needsBubblewrap())('files that permissions deny', () => {
  test('can’t be read by any command if the whole folder, a name or a plain path is denied', async () => {
    const { outputs } = await scripts(
      {
        '.claude/settings.json': deny('Read(secrets/**)', 'Read(*.pem)', 'Read(./conf/one.txt)', 'Read(conf/x*/y)'),
        'secrets/a.txt': 'TOP-1\n',
        'deep/er/key.pem': 'TOP-2\n',
        'conf/one.txt': 'TOP-3\n',
        'conf/x1/y': 'TOP-4\n',
        'open.txt': 'SEEN-1\n',
      },
      [
        'grep -rh . . --include=* | grep -v permissions; cat s*/a* deep/*/*.pem conf/o*',
        'cp -r secrets deep conf elsewhere; cat elsewhere/*; tar cf - . | strings | grep TOP-',
        "printf 'TOP-%s' later > deep/later.pem; mkdir -p secrets; cat open.txt",
        'cat deep/later.pem secrets/a.txt conf/one.txt conf/x1/y; ln secrets/a.txt l; cat l; ln -s secrets s; cat s/a.txt',
      ],
    )
    expect(outputs).toContain('SEEN-1')
    expect(outputs).not.toMatch(/TOP-[1-4]/)
    expect(outputs).not.toContain('TOP-later')
  })

  test('can’t be changed, removed or moved by any command', async () => {
    const { cwd } = await scripts(
      {
        '.claude/settings.json': deny('Edit(src/**)', 'Edit(**/go.lock)', 'Edit(conf/*.toml)'),
        'src/a.txt': 'kept\n',
        'src/n/b.txt': 'kept\n',
        'pkg/go.lock': 'kept\n',
        'conf/c.toml': 'kept\n',
        'free.txt': 'old\n',
      },
      [
        'rm -rf src; rm -f src/a.txt; mv src gone; mv src/a.txt q; echo x > src/a.txt; rmdir src/n; touch src/new',
        'echo x > pkg/go.lock; rm -f pkg/go.lock; mv pkg/go.lock q; find . -name "*.toml" -delete; echo new > free.txt',
      ],
    )
    for (const path of ['src/a.txt', 'src/n/b.txt', 'pkg/go.lock', 'conf/c.toml'])
      expect([path, existsSync(join(cwd, path)) && readFileSync(join(cwd, path), 'utf8')]).toEqual([path, 'kept\n'])
    expect(existsSync(join(cwd, 'src/new'))).toBe(false)
    expect(readFileSync(join(cwd, 'free.txt'), 'utf8')).toBe('new\n')
  })

  test('are reported in the first event if no sandbox enforces all of it', async () => {
    const files = { '.claude/settings.json': deny('Read(conf/x*/y)', 'Read(secrets/**)', 'Read(//var/x*/y)', 'Edit') }
    const first = async (...flags: readonly string[]) => {
      const { events } = await exec([[say('ok')]], ['--json', ...flags, 'x'], { cwd: repository(files) })
      const [started] = events
      return started?.type === 'thread.started' ? (started.config?.denies_not_enforced ?? []) : []
    }
    expect((await first()).map(({ deny: text, why }) => [text.split(' ').at(-1), why.split(';')[0]])).toEqual([
      ['Read(conf/x*/y)', 'for commands, it applies only to files that exist when the run starts'],
      ['Read(//var/x*/y)', 'its pattern is for paths outside the workspace'],
      ['Edit', 'it covers all files, and commands need some of them'],
    ])
    const open = await first('-s', 'danger-full-access')
    expect(open.map(({ why }) => why.split(';')[0])).toEqual(Array.from({ length: 4 }, () => 'no sandbox enforces it'))
  })
})
