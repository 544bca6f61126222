import { expect, test } from 'vitest'
import { analyseScript } from '../../policies/index.ts'

const tooLong = 'its words and scripts have more than 196608 characters in total, with variables expanded'

test.each([
  ['long values of a variable', `A=${'x'.repeat(1_000)}; ${'echo $A; '.repeat(900)}`],
  ['scripts in scripts, without any variable', `bash -c "bash -c '${'echo abcdefghijklmnopqrst;'.repeat(2_000)}'"`],
])('a text that is too long to be analysed is reported as such: %s', (_, text) => {
  expect(analyseScript(text).problems).toContain(tooLong)
})

test.each([
  ["sed 's/a/b' x", 'the s command at "s/a/b" is not understood'],
  ["sed 'y/a/b/x' x", 'the flags x are not understood'],
  ["sed 'p x' x", 'what follows the p command is not understood: " x"'],
])('the reason why a sed script is unclear names its command: %s', (line, reason) => {
  expect(JSON.stringify(analyseScript(line).commands)).toContain(JSON.stringify(reason).slice(1, -1))
})
