import { readFileSync } from 'node:fs'
import { format } from 'prettier'
import { expect, test } from 'vitest'
import type { Behaviour } from './door.ts'
import { execBehaviours } from './exec-behaviours.ts'
import { sdkBehaviours } from './sdk-behaviours.ts'

const file = new URL('../../../engine/cli/codex/README.md', import.meta.url).pathname

/** Renders behaviours as the lines of a Markdown table. */
function linesOf(suite: string, groups: Readonly<Record<string, readonly Behaviour[]>>): readonly string[] {
  return Object.entries(groups).flatMap(([group, behaviours]) =>
    behaviours.map(({ name, differs }) => {
      const here = differs === undefined ? 'the same' : `differs: ${differs}`
      return `| ${suite}, ${group}: ${name} | ${here} |`
    }),
  )
}

test('the README of the door has the table that the behaviours make (vitest -u writes it)', async () => {
  const lines = [...linesOf("OpenAI's SDK", sdkBehaviours), ...linesOf('`codex exec`', execBehaviours)]
  const table = `| behaviour | here |\n| --- | --- |\n${lines.join('\n')}\n`
  const made = readFileSync(file, 'utf8').replace(/\| behaviour (?:.*\n)+/, () => table)
  await expect(await format(made, { parser: 'markdown', printWidth: 120, proseWrap: 'preserve' })).toMatchFileSnapshot(
    file,
  )
})
