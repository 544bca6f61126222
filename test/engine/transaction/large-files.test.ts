import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { testUnlessOnCi, whyNoBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec } from '../../support/workspace.ts'
import { MiB, sparse } from '../../apply-patch/files/large-files.ts'

const applyPatch = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname

/** Performs a run whose changes are landed only later. */
async function changed(cwd: string, home: string, command: string): Promise<void> {
  const replies = [[call('exec_command', { cmd: command })], [say('done')]]
  const args = ['--view=copy', '--land', 'never', 'x']
  const { code, stderr } = await exec((index) => replies[index] ?? [say('done')], args, { cwd, home })
  expect(code, stderr).toBe(0)
}

testUnlessOnCi(whyNoBubblewrap())(
  'a landing that replaces more than 64 MB is taken back by apply-patch undo',
  async () => {
    const [cwd, home] = [tempDir(), tempDir()]
    for (const name of ['old', 'gone']) sparse(join(cwd, name), 40, name)
    execFileSync('git', ['init', '-q', cwd])
    await changed(cwd, home, 'printf new > old; rm gone; truncate -s 70M fresh; echo end >> fresh')
    const applied = await agent(['apply', '--last'], { cwd, home })
    expect(applied.stdout, applied.stderr).toContain('3 files landed')
    expect(readFileSync(join(cwd, 'old'), 'utf8')).toBe('new')
    expect(statSync(join(cwd, 'fresh'))).toMatchObject({ size: 70 * MiB + 4 })
    // The file was sparse in the view, and still is.
    expect(statSync(join(cwd, 'fresh')).blocks * 512).toBeLessThan(4 * MiB)

    const undone = spawnSync(process.execPath, [applyPatch, 'undo'], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: home, XDG_STATE_HOME: join(home, '.local/state') },
      encoding: 'utf8',
    })
    expect(undone.status, undone.stderr).toBe(0)
    for (const name of ['old', 'gone']) {
      const bytes = readFileSync(join(cwd, name))
      expect([
        bytes.length,
        bytes.toString('utf8', 0, name.length),
        bytes.toString('utf8', 40 * MiB - name.length),
      ]).toEqual([40 * MiB, name, name])
    }
    expect(existsSync(join(cwd, 'fresh'))).toBe(false)
  },
)

testUnlessOnCi(whyNoBubblewrap())(
  'files of more than 1 and 2 GB that are mostly holes land as such, and are undone',
  async () => {
    const [cwd, home] = [tempDir(), tempDir()]
    sparse(join(cwd, 'old'), 1100, 'old')
    execFileSync('git', ['init', '-q', cwd])
    await changed(cwd, home, 'echo x >> old; truncate -s 2G fresh; echo end >> fresh')
    // Neither the copy of the tree nor the stored changes fill the disk.
    expect(parseInt(execFileSync('du', ['-sm', home]).toString(), 10)).toBeLessThan(100)
    const applied = await agent(['apply', '--last'], { cwd, home })
    expect(applied.stdout, applied.stderr).toContain('2 files landed')
    for (const [name, size] of [
      ['old', 1100 * MiB + 2],
      ['fresh', 2048 * MiB + 4],
    ] as const) {
      const stats = statSync(join(cwd, name))
      expect([stats.size, stats.blocks * 512 < 8 * MiB]).toEqual([size, true])
    }
    expect((await agent(['undo', '--last'], { cwd, home })).code).toBe(0)
    const undone = statSync(join(cwd, 'old'))
    expect([undone.size, undone.blocks * 512 < 8 * MiB, existsSync(join(cwd, 'fresh'))]).toEqual([
      1100 * MiB,
      true,
      false,
    ])
  },
)

const noTime = existsSync('/usr/bin/time') ? undefined : 'GNU time is not installed'

testUnlessOnCi(whyNoBubblewrap() ?? noTime)(
  'the memory that a landing takes does not grow with what it lands',
  async () => {
    const peak = async (mebibytes: number): Promise<number> => {
      const [cwd, home] = [tempDir(), tempDir()]
      sparse(join(cwd, 'old'), mebibytes, 'old')
      execFileSync('git', ['init', '-q', cwd])
      await changed(
        cwd,
        home,
        `for i in 1 2 3 4; do truncate -s ${mebibytes}M new-$i; echo $i >> new-$i; done; echo x >> old`,
      )
      const figure = join(home, 'peak')
      const startedBy = ['/usr/bin/time', '-f', '%M', '-o', figure]
      const { stdout, stderr } = await agent(['apply', '--last'], { cwd, home, startedBy })
      expect(stdout, stderr).toContain('5 files landed')
      return Number(readFileSync(figure, 'utf8')) / 1024
    }
    const [small, large] = [await peak(1), await peak(100)]
    expect(large - small).toBeLessThan(80)
  },
)
