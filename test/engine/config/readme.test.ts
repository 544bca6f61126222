import { readFileSync } from 'node:fs'
import { format } from 'prettier'
import { expect, test } from 'vitest'
import { UserFile } from '../../../engine/config/settings-schema.ts'
import { settingsTable } from '../../../engine/config/settings/index.ts'
import type { AnyRow } from '../../../engine/config/settings/setting-row.ts'
import { parseToml } from '../../../engine/config/toml.ts'

const file = new URL('../../../engine/config/README.md', import.meta.url).pathname
/** Returns the README's text. Each test reads the file anew, because the first test may just have written it. */
const text = (): string => readFileSync(file, 'utf8')

const headings: Readonly<Record<AnyRow['group'], string>> = {
  model: '## The model',
  decisions: '## What is decided, and by whom',
  sandbox: '## The sandbox',
  tools: '## Tools',
}

/** Renders the settings of one group as a Markdown table. */
function tableOf(group: AnyRow['group']): string {
  const line = (key: string, { unset = '', about }: { readonly unset?: string; readonly about: string }): string =>
    `| \`${key}\` | ${unset} | ${about} |`
  const lines = Object.entries<AnyRow>(settingsTable)
    .filter(([, row]) => row.group === group)
    .flatMap(([name, row]) => {
      const keys = Object.entries(row.keys ?? {}).map(([key, said]) => line(`${name}.${key}`, said))
      return [line(name, row), ...keys]
    })
  return ['| key | default | |', '| --- | --- | --- |', ...lines].join('\n')
}

test('the README of settings has the tables that the rows make (vitest -u writes them)', async () => {
  let made = text()
  for (const [group, heading] of Object.entries(headings)) {
    const table = new RegExp(`(${heading}\n\n)(?:\\|.*\n)+`)
    expect(made).toMatch(table)
    made = made.replace(table, (_, start: string) => `${start}${tableOf(group as AnyRow['group'])}\n`)
  }
  await expect(await format(made, { parser: 'markdown', printWidth: 120, proseWrap: 'preserve' })).toMatchFileSnapshot(
    file,
  )
})

test('every table of settings except lists of names describes each of its keys', () => {
  const silent = Object.entries<AnyRow>(settingsTable).flatMap(([name, { schema, keys }]) => {
    const known = 'shape' in schema ? Object.keys(schema.shape as object) : []
    // `ignore_default_excludes` exists only so that Codex's files are understood, so it isn't described.
    const missing = known.filter((key) => key !== 'ignore_default_excludes' && keys?.[key] === undefined)
    return missing.map((key) => `${name}.${key}`)
  })
  expect(silent).toEqual([])
})

test('every setting that only the user’s file may set is listed there', () => {
  const listed = text()
  const missing = Object.keys(UserFile.shape).filter((key) => !new RegExp(`\`${key}[\`.]`).test(listed))
  expect(missing).toEqual([])
})

test('every example in it is a valid configuration', () => {
  const examples = [...text().matchAll(/```toml\n([^]*?)```/g)].map(([, example = '']) => example)
  expect(examples).not.toEqual([])
  for (const example of examples) UserFile.parse(parseToml(example, 'README.md'))
})
