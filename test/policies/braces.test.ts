import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { countOfBraces, expandBraces } from '../../policies/commands/braces.ts'

test.each([
  '{a,b}',
  '{1..12}',
  '{x,{a,b,c}{d,e,f}}',
  '{{a,b},{c,d},{e,{f,g}{h,i}{j,k}}}',
  '{a,{1..9}{p,q,r}}',
  '{,,,}',
  '{{1..4}{1..4},z}',
  '{a..z}',
  '{x,{E..K}}',
  '{c..a..2}{1..3}',
])('no fewer words are counted for %s than bash makes of it', (text) => {
  const { stdout } = spawnSync('bash', ['-c', `set -- ${text}x; echo $#`], { encoding: 'utf8' })
  expect(countOfBraces(text)).toBeGreaterThanOrEqual(Number(stdout))
  expect(Number(stdout)).toBeGreaterThan(1)
})

test.each(['{a,b}', '{1..3}', '{3..-1}', '{0..2}', '{01..3}', '{1..03}', '{-01..2}', '{1..5..2}', '{-0..2}'])(
  'the words of %s are those of bash, or not known',
  (text) => {
    const { stdout } = spawnSync('bash', ['-c', `printf '%s ' ${text}`], { encoding: 'utf8' })
    expect([undefined, stdout.trim()]).toContain(expandBraces(text)?.join(' '))
  },
)

test('a single list is counted exactly', () => {
  expect(['{a,b}', '{1..12}', '{a,b,c,d}'].map(countOfBraces)).toEqual([2, 12, 4])
})
