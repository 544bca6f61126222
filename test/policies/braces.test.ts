import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { countOfBraces } from '../../policies/commands/braces.ts'

test.each([
  '{a,b}',
  '{1..12}',
  '{x,{a,b,c}{d,e,f}}',
  '{{a,b},{c,d},{e,{f,g}{h,i}{j,k}}}',
  '{a,{1..9}{p,q,r}}',
  '{,,,}',
  '{{1..4}{1..4},z}',
])('no fewer words are counted for %s than bash makes of it', (text) => {
  const { stdout } = spawnSync('bash', ['-c', `set -- ${text}x; echo $#`], { encoding: 'utf8' })
  expect(countOfBraces(text)).toBeGreaterThanOrEqual(Number(stdout))
  expect(Number(stdout)).toBeGreaterThan(1)
})

test('a single list is counted exactly', () => {
  expect(['{a,b}', '{1..12}', '{a,b,c,d}'].map(countOfBraces)).toEqual([2, 12, 4])
})
