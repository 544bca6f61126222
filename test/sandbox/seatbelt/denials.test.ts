import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hostFileSystem } from '../../../sandbox/file-system-view.ts'
import { parsePolicy, renderDenial } from '../../../sandbox/index.ts'
import { denialsFromSeatbelt } from '../../../sandbox/seatbelt/denials.ts'
import { temporaryDirectory } from '../helpers.ts'

test('Seatbelt’s only message for refusals is explained by the policy, and stays a suspicion', async () => {
  const home = await temporaryDirectory()
  const [workspace, keys] = [join(home, 'workspace'), join(home, '.ssh')]
  for (const directory of [workspace, keys]) await mkdir(directory)
  await writeFile(join(keys, 'id'), 'secret')
  const policy = parsePolicy({ mode: 'workspace-write', workspace, deniedReads: [keys], readableRoots: [home] })
  const explain = (stderr: string): readonly string[] =>
    denialsFromSeatbelt(policy, { stderr, cwd: workspace, code: 1 }, hostFileSystem).map(
      ({ certainty, rule }) => `${certainty}: ${rule.replace(/:.*/, '')}`,
    )
  expect(explain(`cat: ${keys}/id: Operation not permitted`)).toEqual(['suspected: deniedReads'])
  expect(explain('sh: /usr/x: Operation not permitted')).toEqual(['suspected: outside the writable roots'])
  expect(explain('mkdir: .claude: Operation not permitted')).toEqual(['suspected: protectedPaths'])
  expect(explain('curl: (6) Could not resolve host: example.invalid')).toEqual(['suspected: network'])
  expect(explain('nice: setpriority: Operation not permitted')[0]).toMatch(/^suspected/)
  expect(explain('make: nothing to be done')).toEqual([])
})

test('a command that creates its own sandbox gets advice on how to leave it out', () => {
  const policy = parsePolicy({ mode: 'workspace-write', workspace: '/w' })
  const swift =
    "error: 'app': Invalid manifest (compiled with: [...])\nsandbox-exec: sandbox_apply: Operation not permitted\n"
  for (const [stderr, code] of [
    [swift, 1],
    ['sandbox-exec: sandbox_apply: Operation not permitted\n', 71],
  ] as const) {
    const [denial, ...others] = denialsFromSeatbelt(policy, { stderr, cwd: '/w', code }, hostFileSystem)
    expect(others).toEqual([])
    expect(denial && renderDenial(denial)).toMatch(/may have refused .* does not nest .* swift build --disable-sandbox/)
  }
})
