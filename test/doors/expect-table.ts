import { readFileSync } from 'node:fs'
import { format } from 'prettier'
import { expect } from 'vitest'

type Behaviour = {
  readonly name: string
  readonly differs?: string
  /** What the table says of it. By default, that it is the same, or why it differs. */
  readonly here?: string
}

/** Expects the README of a door to have the table that these behaviours make, each suite under its title. */
export async function expectTable(door: string, suites: Readonly<Record<string, readonly Behaviour[]>>): Promise<void> {
  const file = new URL(`../../engine/cli/${door}/README.md`, import.meta.url).pathname
  const lines = Object.entries(suites).flatMap(([title, behaviours]) =>
    behaviours.map(({ name, differs, here = differs === undefined ? 'the same' : `differs: ${differs}` }) => {
      return `| ${title}: ${name} | ${here} |`
    }),
  )
  const table = `| behaviour | here |\n| --- | --- |\n${lines.join('\n')}\n`
  const made = readFileSync(file, 'utf8').replace(/\| behaviour (?:.*\n)+/, () => table)
  await expect(await format(made, { parser: 'markdown', printWidth: 120, proseWrap: 'preserve' })).toMatchFileSnapshot(
    file,
  )
}
