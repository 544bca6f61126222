import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = new URL('../../', import.meta.url).pathname

/** The folders whose `index.ts` is an entry point of the package. */
export const entryPoints = ['apply-patch', 'engine', 'policies', 'sandbox'] as const
export type EntryPoint = (typeof entryPoints)[number]

/** A name that an entry point exports, with the comment on its declaration. */
export type Documented = { readonly name: string; readonly comment: string }

/** The runtime exports of an entry point: values, not types. */
export async function valuesOf(entryPoint: EntryPoint): Promise<readonly Documented[]> {
  const names = Object.keys((await import(`../../${entryPoint}/index.ts`)) as object)
  const sources = globSync(`${entryPoint}/**/*.ts`, { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
  const index = readFileSync(join(root, entryPoint, 'index.ts'), 'utf8')
  return names.map((name) => {
    const declared = new RegExp(`\\b(\\w+) as ${name}\\b`).exec(index)?.[1] ?? name
    return { name, comment: commentOn(declared, sources) }
  })
}

function commentOn(name: string, sources: readonly string[]): string {
  const declaration = new RegExp(`^export (?:async )?(?:function\\*?|const|class) ${name}\\b`, 'm')
  const [text = ''] = sources.filter((source) => declaration.test(source))
  const above = text.slice(0, declaration.exec(text)?.index ?? 0)
  return above.endsWith('*/\n') ? above.slice(above.lastIndexOf('/**')) : ''
}

/** The code of the example in a comment; undefined if the comment has none. */
export function exampleIn(comment: string): string | undefined {
  const text = /^ \* @example ?\n?([^]*?)(?=^ \* @|^ \*\/)/m.exec(comment)?.[1]
  return text?.replaceAll(/^ \* ?/gm, '').trimEnd()
}
