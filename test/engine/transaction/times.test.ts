import { execFileSync, spawnSync } from 'node:child_process'
import { lstatSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { exec, repository } from '../../support/workspace.ts'
import { say } from '../../support/mock-openai.ts'
import { cmd, onOverlay, reportOf, whyNoOverlay } from './overlay-runs.ts'

const missing = { copy: whyNoBubblewrap(), overlay: whyNoBubblewrap() ?? whyNoOverlay() }
const timeOf = (cwd: string, path: string): bigint => lstatSync(join(cwd, path), { bigint: true }).mtimeNs

for (const how of ['copy', 'overlay'] as const) {
  const one = testUnless(missing[how])

  one(`files, links and new directories that land from a view (${how}) keep their modification times`, async () => {
    const cwd = repository({ 'a.txt': 'a\n', 'sub/b.txt': 'b\n', 'odd name\n': 'c\n' })
    const at = '@1700000000.123456789'
    const command = [
      'echo x > a.txt; echo y > new; mkdir -p d/e; echo z > d/e/f; ln -s nowhere link; echo w > "odd name\n"; mv sub other',
      `touch -h -d ${at} a.txt new d/e/f d/e d link "odd name\n" other/b.txt`,
    ].join('; ')
    const ended = await onOverlay(cwd, [cmd(command)], { how })
    expect([ended.code, reportOf(ended)?.outcome]).toEqual([0, 'landed'])
    const paths = ['a.txt', 'new', 'd', 'd/e', 'd/e/f', 'link', 'odd name\n', 'other/b.txt']
    expect(paths.map((path) => timeOf(cwd, path))).toEqual(paths.map(() => 1_700_000_000_123_456_789n))
  })
}

const make = spawnSync('make', ['--version']).status === 0 ? undefined : 'make is missing'
testUnless(whyNoBubblewrap() ?? make)('make finds nothing to do in a tree that a run has built', async () => {
  const cwd = repository({
    Makefile: 'out/b: out/a\n\tcp out/a out/b\nout/a: src\n\tmkdir -p out; cp src out/a\n',
    src: 's\n',
    '.gitignore': 'out\n',
  })
  const ended = await exec([cmd('echo t > src; make'), [say('done')]], ['--json', 'x'], { cwd })
  expect([ended.code, spawnSync('make', ['-q', 'out/b'], { cwd }).status]).toEqual([0, 0])
})

testUnless(missing.copy)(
  'a file that was merged with somebody else’s changes has been modified by the landing',
  async () => {
    const cwd = repository({ 'a.txt': '1\n2\n3\n4\n5\n' })
    execFileSync('sh', ['-c', 'git add . && git -c user.name=x -c user.email=x@x commit -qm first'], { cwd })
    const replies = (index: number) => {
      if (index === 0) return cmd('sed -i s/1/one/ a.txt; touch -d @1700000000 a.txt')
      writeFileSync(join(cwd, 'a.txt'), '1\n2\n3\n4\nfive\n')
      return [say('done')]
    }
    const ended = await exec(replies, ['--json', 'x'], { cwd })
    expect(reportOf(ended)).toMatchObject({ outcome: 'landed', merged: [join(cwd, 'a.txt')] })
    expect(Date.now() - statSync(join(cwd, 'a.txt')).mtimeMs).toBeLessThan(3_600_000)
  },
)
