/** A run that would take much from the user asks before its changes land. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { cmd, reportOf } from './overlay-runs.ts'

const files = (count: number, folder = ''): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${folder}f${index}.txt`, `line\n${index}\nand more\nand more\n`]),
  )

/** A repository with one commit of these files. */
function committed(content: Readonly<Record<string, string>>): string {
  const cwd = repository(content)
  execFileSync('git', ['add', '.'], { cwd })
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'first'], { cwd })
  return cwd
}

async function run(cwd: string, command: string, args: readonly string[] = [], home = tempDir()) {
  const step = cmd(command)
  const ended = await exec((index) => (index === 0 ? step : [say('done')]), ['--json', ...args, 'x'], { cwd, home })
  const last = ended.events.at(-1)
  const message = last?.type === 'turn.failed' ? last.error.message : ''
  return { code: ended.code, outcome: reportOf(ended)?.outcome, message, stderr: ended.stderr }
}

const landed = { code: 0, outcome: 'landed' }
const kept = { code: 3, outcome: 'kept' }

describe.skipIf(needsBubblewrap())('nothing lands unasked', () => {
  test('of a run that deletes most of the tracked files; a person can land it', async () => {
    const cwd = committed(files(20))
    const home = tempDir()
    const ended = await run(cwd, 'rm f1*.txt f2.txt', [], home)
    expect(ended, ended.stderr).toMatchObject(kept)
    expect(ended.message).toContain('deletes 12 of 20 tracked files: f1.txt, f10.txt, f11.txt and 9 more')
    expect(ended.message).toContain('agent apply')
    expect(readdirSync(cwd)).toHaveLength(21)
    const applied = await agent(['apply', '--last'], { cwd, home })
    expect([applied.code, readdirSync(cwd).length], applied.stderr).toEqual([0, 9])
  })

  test('of a run that deletes every untracked file, in a repository or in none', async () => {
    const cwd = committed({ 'a.txt': 'a\n' })
    for (const [name, text] of Object.entries(files(11))) writeFileSync(join(cwd, name), text)
    expect(await run(cwd, 'git clean -fdq')).toMatchObject(kept)
    expect(await run(cwd, 'rm f?.txt')).toMatchObject(landed)
    const plain = tempDir(files(11, 'notes/'))
    expect(await run(plain, 'rm -rf notes', ['--skip-git-repo-check'])).toMatchObject(kept)
    expect(readdirSync(join(plain, 'notes'))).toHaveLength(11)
  })

  test.each(['git checkout -q .', 'git reset -q --hard', 'git stash -q', 'git show HEAD:a.txt >a.txt'])(
    'of a run that loses uncommitted work: %s',
    async (command) => {
      const cwd = committed({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
      writeFileSync(join(cwd, 'a.txt'), 'my work\n')
      const ended = await run(cwd, command)
      expect(ended, ended.stderr).toMatchObject(kept)
      expect(ended.message).toContain('a.txt')
      expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('my work\n')
    },
  )

  test('unless a reviewer allows it, or the user has said that everything lands', async () => {
    const cwd = committed(files(12))
    const answer = join(
      tempDir({
        'yes.mjs': `import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(JSON.stringify({ id: JSON.parse(line).id, outcome: 'allow', reason: 'yes' }) + '\\n')`,
      }),
      'yes.mjs',
    )
    const asked = await run(cwd, 'git rm -q f1*.txt f2.txt f3.txt f4.txt f5.txt f6.txt f7.txt f8.txt f9.txt', [
      '--approval-program',
      `"${process.execPath}" "${answer}"`,
    ])
    expect(asked, asked.stderr).toMatchObject(landed)
    expect(readdirSync(cwd)).toEqual(['.git', 'f0.txt'])
    const other = committed(files(12))
    expect(await run(other, 'rm *.txt', ['--land', 'always'])).toMatchObject(landed)
  })
})

describe.skipIf(needsBubblewrap())('without a question land', () => {
  test('moves, also of changed files', async () => {
    const cwd = committed(files(12, 'src/'))
    const ended = await run(cwd, 'git mv src lib; for f in lib/f1*; do echo x >>$f; done')
    expect(ended, ended.stderr).toMatchObject(landed)
    expect([existsSync(join(cwd, 'src')), readdirSync(join(cwd, 'lib')).length]).toEqual([false, 12])
  })

  test('deletions of what is ignored, of a few files, and of half of them', async () => {
    const cwd = committed({ '.gitignore': 'out\n', ...files(21) })
    mkdirSync(join(cwd, 'out'))
    for (const [name, text] of Object.entries(files(30))) writeFileSync(join(cwd, 'out', name), text)
    expect(await run(cwd, 'rm -rf out; rm f1*.txt')).toMatchObject(landed)
    expect(readdirSync(cwd)).toHaveLength(12)
  })

  test('uncommitted changes that are committed, and their line ends', async () => {
    const cwd = committed({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    writeFileSync(join(cwd, 'a.txt'), 'my work\n')
    writeFileSync(join(cwd, 'b.txt'), 'b\r\n')
    const ended = await run(cwd, "git -c user.name=x -c user.email=x@x commit -qam mine; printf 'b\\n' >b.txt")
    expect(ended, ended.stderr).toMatchObject(landed)
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('my work\n')
  })
})
