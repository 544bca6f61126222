import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap, testUnless, whyNoBubblewrap, whyNotRoot } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { say } from '../../support/mock-openai.ts'
import { exec, repository } from '../../support/workspace.ts'
import { fingerprint } from './fingerprint.ts'
import { cmd, onOverlay, outputOf, reportOf, whyNoOverlay } from './overlay-runs.ts'

needsBubblewrap()
const missing = { copy: whyNoBubblewrap(), overlay: whyNoBubblewrap() ?? whyNoOverlay() }

/** Mounts a file system on a new directory, for one test. */
function mounted(...options: readonly string[]): string {
  const path = join(tempDir(), 'mounted')
  mkdirSync(path)
  execFileSync('mount', [...options, path])
  onTestFinished(() => void spawnSync('umount', ['--lazy', path]))
  return path
}

function onAnOverlay(): string {
  const [lower, base] = [repository({ 'a.txt': 'a\n', 'd/b.txt': 'b\n' }), tempDir()]
  for (const name of ['upper', 'work']) mkdirSync(join(base, name))
  return mounted(...['-t', 'overlay', 'overlay', '-o', `lowerdir=${lower},upperdir=${base}/upper,workdir=${base}/work`])
}

describe.each(['copy', 'overlay'] as const)('a run with --view=%s', (how) => {
  const one = testUnless(missing[how])
  const asRoot = testUnless(missing[how] ?? whyNotRoot('mounts file systems'))

  one('lands no ignored files of repositories in a workspace that is none itself if the user says no', async () => {
    const cwd = tempDir()
    for (const name of ['one', 'two']) execFileSync('git', ['init', '-q', name], { cwd })
    for (const name of ['one', 'two']) writeFileSync(join(cwd, name, '.gitignore'), '*.log\n')
    const script = 'echo x > one/a.txt; echo l > one/a.log; mkdir two/d; echo l > two/d/b.log; echo t > top.log'
    const ended = await exec(
      [cmd(script), [say('done')]],
      ['--json', `--view=${how}`, '--land-ignored=no', '--skip-git-repo-check', 'x'],
      {
        cwd,
      },
    )
    expect(reportOf(ended)).toMatchObject({ outcome: 'landed', ignored: { files: 2 } })
    expect(readdirSync(cwd, { recursive: true }).filter((path) => /\.(?:txt|log)$/.test(String(path)))).toEqual(
      expect.arrayContaining(['top.log', 'one/a.txt']),
    )
    expect([readdirSync(join(cwd, 'one')), readdirSync(join(cwd, 'two'))]).toEqual([
      ['.git', '.gitignore', 'a.txt'],
      ['.git', '.gitignore'],
    ])
  })

  // An overlay refuses a tree in which something is mounted.
  if (how === 'copy')
    asRoot('lands although it removed a directory that is a mount point and has to stay', async () => {
      const [cwd, home] = [repository({ 'a.txt': 'a\n' }), tempDir()]
      mkdirSync(join(cwd, 'm'))
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(cwd, 'm')])
      onTestFinished(() => void spawnSync('umount', ['--lazy', join(cwd, 'm')]))
      writeFileSync(join(cwd, 'm/x'), 'x\n')
      const run = (command: string) =>
        exec([cmd(command), [say('done')]], ['--json', '--view=copy', 'x'], { cwd, home })
      const first = await run('rm -rf m; echo x > a.txt')
      expect([first.code, readdirSync(join(cwd, 'm'))]).toEqual([0, []])
      expect(JSON.stringify(reportOf(first)?.notes)).toContain('it stays as an empty directory')
      expect((await run('echo y > b.txt')).code).toBe(0)
      for (let undone = 0; undone < 2; undone++)
        expect(
          (await agent(['undo', ...(undone === 0 ? ['--last'] : [reportOf(first)?.run ?? ''])], { cwd, home })).code,
        ).toBe(0)
      expect([readFileSync(join(cwd, 'a.txt'), 'utf8'), readFileSync(join(cwd, 'm/x'), 'utf8')]).toEqual(['a\n', 'x\n'])
    })

  asRoot.each([
    [
      'in memory',
      () => {
        const cwd = mounted('-t', 'tmpfs', 'tmpfs')
        execFileSync('sh', ['-c', 'git init -q; echo a > a.txt; mkdir d; echo b > d/b.txt'], { cwd })
        return cwd
      },
    ],
    ['on an overlay, as in a container', onAnOverlay],
  ] as const)('works in a workspace %s, and is taken back', async (_, make) => {
    const [cwd, home] = [make(), tempDir()]
    const change = 'echo x >> a.txt; rm -r d; mkdir d; echo new > d/new.txt; chmod 755 a.txt'
    const before = fingerprint(cwd)
    const kept = await onOverlay(cwd, [cmd(change)], { how, home, args: ['--land', 'never'] })
    expect([kept.code, fingerprint(cwd)]).toEqual([0, before])
    const ended = await onOverlay(cwd, [cmd(change)], { how, home })
    expect([ended.code, reportOf(ended)]).toMatchObject([0, { strategy: how, outcome: 'landed', files: 3 }])
    expect([readFileSync(join(cwd, 'a.txt'), 'utf8'), readdirSync(join(cwd, 'd'))]).toEqual(['a\nx\n', ['new.txt']])
    expect((await agent(['undo', '--last'], { cwd, home })).code).toBe(0)
    expect([readFileSync(join(cwd, 'a.txt'), 'utf8'), readdirSync(join(cwd, 'd'))]).toEqual(['a\n', ['b.txt']])
  })

  one('works if directory names contain special characters', async () => {
    const [cwd, home] = [join(tempDir(), 'a:b,c=d"e \\f'), join(tempDir(), 'h:o,me')]
    for (const directory of [cwd, home]) mkdirSync(directory)
    execFileSync('git', ['init', '-q', cwd])
    const ended = await onOverlay(cwd, [cmd('echo x > "n:a,m"')], { how, home })
    expect([ended.code, reportOf(ended)?.outcome]).toEqual([0, 'landed'])
    expect(readFileSync(join(cwd, 'n:a,m'), 'utf8')).toBe('x\n')
  })

  one('keeps a file whose name is not UTF-8, says what helps, and lands the others', async () => {
    const [cwd, home] = [repository({ 'a.txt': 'a\n' }), tempDir()]
    const ended = await onOverlay(cwd, [cmd('echo x > a.txt; echo x > "$(printf \'\\377\')"')], { how, home })
    expect([ended.code, readFileSync(join(cwd, 'a.txt'), 'utf8')]).toEqual([0, 'x\n'])
    const { run = '', left_out: left } = reportOf(ended) ?? {}
    expect(left).toMatchObject([{ why: "its name is not UTF-8; in a shell, write it as $'\\377'" }])
    expect(ended.stderr).toContain('left out: ')
    // None of the run's changes are lost: the run is resumed and renames the file, and then everything lands.
    const steps = [cmd("mv $'\\377' b.txt")]
    const args = ['resume', '--json', run, 'rename it']
    const renamed = await exec((index) => steps[index] ?? [say('done')], args, { cwd, home })
    expect([renamed.code, readFileSync(join(cwd, 'b.txt'), 'utf8')]).toEqual([0, 'x\n'])
  })

  one('reports broken hard links at its end, and later on request', async () => {
    const [cwd, home] = [repository({ 'a.txt': 'a\n' }), tempDir()]
    const link = join(tempDir(), 'link')
    execFileSync('ln', ['a.txt', link], { cwd })
    writeFileSync(join(cwd, 'b.txt'), 'b\n')
    const note = 'a.txt had 1 other hard link; only this name has the new content'
    const ended = await onOverlay(cwd, [cmd('echo x >> a.txt; echo x > b.txt')], { how, home })
    expect(reportOf(ended)).toMatchObject({ outcome: 'landed', notes: [note] })
    expect(ended.stderr).toContain(`note: ${note}`)
    const ask = async (...words: string[]) => (await agent([...words, '--last'], { cwd, home })).stdout
    expect(await ask('changes')).toContain(`note: ${note}\n`)
    expect(JSON.parse(await ask('changes', '--json'))).toMatchObject({ notes: [note] })
    await ask('undo')
    expect(await ask('changes')).not.toContain('note:')
    execFileSync('ln', ['-f', 'a.txt', link], { cwd })
    expect(await ask('apply')).toContain(`note: ${note}\n`)
  })

  one('reports nothing about its landing if there is nothing to report', async () => {
    const ended = await onOverlay(repository({ 'a.txt': 'a\n' }), [cmd('echo x > a.txt; cat a.txt')], { how })
    expect([outputOf(ended), reportOf(ended)?.notes]).toEqual(['x\n', undefined])
  })
})
