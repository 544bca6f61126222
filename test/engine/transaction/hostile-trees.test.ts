import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { openFor } from '../../sandbox/helpers.ts'
import { openPath } from '../../support/call-path.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { fingerprint } from './fingerprint.ts'
import { cmd, onOverlay, reportOf, whyNoOverlay } from './overlay-runs.ts'

const ways = ['copy', ...(whyNoOverlay() === undefined ? ['overlay'] : [])]

/** A command that makes this many directories so deep that the path of each has more than 3,000 bytes. */
const deep = (count: number): string =>
  `n=$(printf "%0200d" 0); for i in $(seq 1 16); do mkdir $n; cd $n; done; seq 1 ${count} | xargs mkdir`

describe.skipIf(needsBubblewrap())('a tree that a command has filled', () => {
  test.each(ways)(
    'with more than one landing can hold stays in the view (%s), and the rest lands afterwards',
    async (how) => {
      const [cwd, home] = [repository({ 'a.txt': 'a\n' }), tempDir()]
      const before = fingerprint(cwd)
      const filled = await onOverlay(cwd, [cmd(`echo b > a.txt; ${deep(25_000)}`)], { how, home })
      expect(filled.code).toBe(1)
      expect(filled.stderr).toMatch(
        /Nothing was landed, and the tree is as it was: the paths in the run's changes have more than 67 MB/,
      )
      expect(fingerprint(cwd)).toEqual(before)
      const cleared = await onOverlay(cwd, [cmd('rm -r 0*')], { how, home, args: ['resume', '--last'] })
      expect([cleared.code, reportOf(cleared)?.outcome]).toEqual([0, 'landed'])
      expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('b\n')
    },
  )

  test('with more than a landing looks through ends the run with that bound', async () => {
    const cwd = repository({ 'a.txt': 'a\n' })
    const { code, stderr } = await onOverlay(cwd, [cmd(deep(85_000))], { how: 'copy' })
    expect(code).toBe(1)
    expect(stderr).toContain(`the paths in ${cwd} have more than 268 MB`)
    expect(readdirSync(cwd).toSorted()).toEqual(['.git', 'a.txt'])
  })

  test('outside a repository, the file tools find what is nearest and say where they stopped', async () => {
    const workspace = tempDir({ 'z.txt': 'needle\n' })
    execFileSync('sh', ['-c', 'mkdir a; cd a; seq 1 100001 | xargs touch'], { cwd: workspace })
    const { call } = await openPath({ tools: builtInTools, sandbox: await openFor({ mode: 'read-only', workspace }) })
    const stop = '[the search ended after 100000 entries without looking at the rest; give a path further down]'
    expect(await call('glob', { pattern: '*.txt' })).toEqual({ ok: true, output: `z.txt\n${stop}` })
    expect(await call('glob', { pattern: '*.none' })).toEqual({ ok: true, output: `No file matches.\n${stop}` })
    expect(await call('grep', { pattern: 'needle' })).toEqual({ ok: true, output: `z.txt\n     1\tneedle\n${stop}` })
    const { output } = await call('list_dir', { path: 'a' })
    expect(output.split('\n').slice(-2)).toEqual(['[more entries: 99000]', '[the listing ended after 100000 entries]'])
  })
})
