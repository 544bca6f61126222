import { readFileSync } from 'node:fs'
import { parseAst } from 'vitest/node'
import { sources } from './sources.ts'

/** A regular expression as it is written in the sources, and the files that contain it. */
export type Pattern = { readonly pattern: string; readonly flags: string; readonly places: readonly string[] }

const folders = ['apply-patch', 'engine', 'policies', 'sandbox']

/** Every regular expression literal in the programs' sources, by its text, and the places that create one with `RegExp`. */
export function regularExpressions(): {
  readonly literals: ReadonlyMap<string, Pattern>
  readonly made: readonly string[]
} {
  const literals = new Map<string, Pattern>()
  const made: string[] = []
  for (const file of folders.flatMap(sources)) {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    visit(parseAst(text, { lang: 'ts' }), (node) => {
      if (node['type'] === 'Literal' && node['regex'] !== undefined) {
        const { pattern, flags } = node['regex'] as { readonly pattern: string; readonly flags: string }
        const key = `/${pattern}/${flags}`
        literals.set(key, { pattern, flags, places: [...(literals.get(key)?.places ?? []), file] })
      }
      const callee = node['callee'] as { readonly name?: string } | undefined
      if (callee?.name === 'RegExp') made.push(file)
    })
  }
  return { literals, made: [...new Set(made)] }
}

function visit(value: unknown, see: (node: Readonly<Record<string, unknown>>) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, see)
  else if (typeof value === 'object' && value !== null) {
    see(value as Readonly<Record<string, unknown>>)
    for (const each of Object.values(value)) visit(each, see)
  }
}
