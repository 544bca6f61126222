import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isWhole } from '../../../engine/transaction/land.ts'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { agentAtTerminal } from '../../support/terminal.ts'
import { exec, repository } from '../../support/workspace.ts'

const numbers = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('')

/** Performs a run whose changes are not landed, then runs `agent apply -p` and answers its questions with the letters of `answers`. */
async function picking(command: string, answers: string, paths: readonly string[] = []) {
  const [cwd, home] = [repository({ 'a.txt': numbers(1, 30), 'b.txt': 'b\n', 'gone.txt': 'g\n' }), tempDir()]
  await exec([[call('exec_command', { cmd: command })], [say('done')]], ['--land', 'never', 'x'], {
    cwd,
    home,
  })
  const typed = [...answers].map((letter) => ({ after: 'y,n,q,a,d,?]? ', text: `${letter}\n` }))
  const args = paths.length === 0 ? ['--last'] : ['--last', ...paths]
  const ended = await agentAtTerminal(['apply', '-p', ...args], typed, { cwd, home })
  const read = (path: string): string => readFileSync(join(cwd, path), 'utf8')
  return { cwd, home, ...ended, read }
}

const threeHunks = "sed -i 's/^3$/three/; s/^15$/fifteen/; s/^28$/twenty-eight/' a.txt"
const withLines = (...lines: readonly (readonly [number, string])[]): string =>
  lines.reduce((text, [line, words]) => text.replace(`\n${line}\n`, `\n${words}\n`), numbers(1, 30))

describe.skipIf(needsBubblewrap())('agent apply -p', () => {
  test('lands only the accepted hunks', async () => {
    const { code, shown, read } = await picking(threeHunks, 'yny')
    expect(read('a.txt')).toBe(withLines([3, 'three'], [28, 'twenty-eight']))
    expect([code, shown]).toEqual([0, expect.stringContaining('1 file landed')])
    expect(shown).toContain('-15\n+fifteen')
    expect(shown).toContain('(2/3) Apply this hunk to a.txt [y,n,q,a,d,?]?')
  })

  test('accepts or rejects the rest of a file, and stops on request', async () => {
    const command = `${threeHunks}; echo c > b.txt; echo n > new.txt; rm gone.txt`
    const rest = await picking(command, 'nayq')
    expect([rest.read('a.txt'), rest.read('b.txt')]).toEqual([withLines([15, 'fifteen'], [28, 'twenty-eight']), 'c\n'])
    expect(readdirSync(rest.cwd).toSorted()).toEqual(['.git', 'a.txt', 'b.txt', 'gone.txt'])
    const none = await picking(command, 'dnyy')
    expect([none.read('a.txt'), none.read('b.txt'), none.read('new.txt')]).toEqual([numbers(1, 30), 'b\n', 'n\n'])
    expect(readdirSync(none.cwd)).not.toContain('gone.txt')
  })

  test('asks about a mode change separately, and about a binary file as a whole', async () => {
    const { cwd, read, shown } = await picking(`chmod +x b.txt; echo c > b.txt; printf '\\0' > bin`, 'yny')
    expect([read('b.txt'), statSync(join(cwd, 'b.txt')).mode & 0o777, read('bin')]).toEqual(['b\n', 0o755, '\0'])
    expect(shown).toContain('Apply this mode change to b.txt')
    expect(shown).toContain('Apply the addition of bin')
  })

  test('explains its letters, and accepts nothing else', async () => {
    const { shown, read } = await picking("sed -i 's/^3$/three/' a.txt", '?xn')
    expect(shown.match(/^a - take this and all later parts of this file$/gm)).toHaveLength(2)
    expect(shown).toContain('You chose no changes: the tree is unchanged.')
    expect(read('a.txt')).toBe(numbers(1, 30))
  })

  test('keeps rejected hunks for another time', async () => {
    const { cwd, home, read } = await picking(`${threeHunks}; echo c > b.txt`, 'ynn', ['a.txt'])
    expect([read('a.txt'), read('b.txt')]).toEqual([withLines([3, 'three']), 'b\n'])
    expect((await agent(['changes', '--last'], { cwd, home })).stdout).toContain('not landed')
    expect((await agent(['apply', '--last'], { cwd, home })).code).toBe(0)
    expect([read('a.txt'), read('b.txt')]).toEqual([
      withLines([3, 'three'], [15, 'fifteen'], [28, 'twenty-eight']),
      'c\n',
    ])
  })

  test('asks the next time only about what has not landed, and takes nothing back', async () => {
    const { cwd, home, read } = await picking(threeHunks, 'ynn')
    const typed = ['n', 'y'].map((letter) => ({ after: 'y,n,q,a,d,?]? ', text: `${letter}\n` }))
    const { shown } = await agentAtTerminal(['apply', '-p', '--last'], typed, { cwd, home })
    expect(shown).not.toContain('three')
    expect(read('a.txt')).toBe(withLines([3, 'three'], [28, 'twenty-eight']))
  })

  test('gives the same result as without it if all hunks are accepted', async () => {
    const { cwd, home } = await picking(threeHunks, 'a')
    expect((await agent(['changes', '--last'], { cwd, home })).stdout).toContain('  landed\n')
  })

  test('shows no terminal control sequences', async () => {
    const { shown } = await picking(`printf 'x\\033[2Jy\\n' > "$(printf 'a\\033[2Jb')"`, 'n')
    expect(shown).not.toContain('\u001b[2J')
  })

  test('is refused without a terminal', async () => {
    const { cwd, home } = await picking(threeHunks, 'q')
    const { code, stderr } = await agent(['apply', '-p', '--last'], { cwd, home })
    expect([code, stderr]).toEqual([2, expect.stringContaining('there is no terminal. Name paths')])
  })
})

test('a run of which one change was taken in part has not landed as a whole, also if the landing was killed', () => {
  const change = { path: 'a', root: '/w', before: { type: 'absent' }, after: { type: 'symlink', target: 'b' } } as const
  const run = { blocked: [], changes: [change] }
  expect(isWhole(run, [change])).toBe(true)
  expect(isWhole(run, [{ ...change, after: { type: 'symlink', target: 'c' } }])).toBe(false)
  expect(isWhole({ ...run, blocked: [{ path: 'b', why: 'its name is not UTF-8' }] }, [change])).toBe(false)
})
