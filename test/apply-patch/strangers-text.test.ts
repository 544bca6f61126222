import { expect, test } from 'vitest'
import { controlling, obeyed } from '../support/ci-runners.ts'
import { makeCase, runProgram } from './case-tools.ts'

const lines = ['##vso[task.x]y', '::add-mask::a', '\u001b[2Jcleared\u202egnp.exe', "##teamcity[x 'y']", '##[group]x']
const wrap = (body: string): string => `*** Begin Patch\n${body}*** End Patch\n`

test.each([
  ['a patch that applies', wrap(lines.map((line) => `*** Add File: ${line}\n+${line}\n`).join(''))],
  ['lines that are not in the file', wrap(`*** Update File: f.txt\n@@\n-${lines.join('\n-')}\n+x\n`)],
  ['a section that is not in the file', wrap(`*** Update File: f.txt\n@@ ${lines[2]}\n-x\n+y\n`)],
  ['files that are missing', wrap(lines.map((line) => `*** Delete File: ${line}\n`).join(''))],
  ['what is no patch', lines.join('\n')],
  ['a wrong header', wrap(lines.map((line) => `*** Rename File: ${line}\n`).join(''))],
])('%s: the messages control no terminal and contain no command for a CI’s runner', (_, patch) => {
  for (const args of [[], ['--check'], ['--diff'], ['--json'], ['--strict'], ['--reverse']]) {
    const { cwd } = makeCase({ files: { 'f.txt': `${lines.join('\n')}z\n` } })
    const run = runProgram(cwd, patch, { args, env: { CI: 'true' } })
    const shown = `${run.stdout}\n${run.stderr}`
    expect([args, obeyed(shown)]).toEqual([args, []])
    expect(shown).not.toMatch(controlling)
  }
})

test('a diff for another program is printed as it is, and in a CI, a warning says that it is not', () => {
  const patch = wrap('*** Add File: a.txt\n+##vso[task.x]y\n')
  const plain = runProgram(makeCase({ files: {} }).cwd, patch, { args: ['--diff'] })
  expect(plain.stdout).toContain('\n+##vso[task.x]y\n')
  expect(plain.stderr).not.toContain('warning')
  const inCi = runProgram(makeCase({ files: {} }).cwd, patch, { args: ['--diff'], env: { TF_BUILD: 'True' } })
  expect(inCi.stdout).toContain('\n+# # vso[task.x]y\n')
  expect(inCi.stderr).toContain('--json has them as they are')
})

test('what --json says stays the same', () => {
  const patch = wrap(`*** Add File: ${lines[0]}\n+x\n`)
  const run = runProgram(makeCase({ files: {} }).cwd, patch, { args: ['--json'] })
  expect(obeyed(run.stdout)).toEqual([])
  expect(JSON.parse(run.stdout)).toMatchObject({ summary: [{ kind: 'A', path: lines[0] }] })
})

test('usage errors quote an argument without its control characters', () => {
  const run = runProgram(makeCase({ files: {} }).cwd, '', { args: ['--root', lines.join('\n')] })
  expect(run.status).toBe(2)
  expect(run.stderr).not.toMatch(controlling)
  expect(obeyed(run.stderr)).toEqual([])
})
