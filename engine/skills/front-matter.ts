import * as z from 'zod'

/** A Markdown file, its front matter as data. */
export type MarkdownFile = { readonly data: Readonly<Record<string, unknown>>; readonly body: string }

/**
 * Splits a Markdown file into its front matter (YAML between two lines of `---`) and its body. Front matter is optional.
 *
 * @returns the parts, or what is wrong with the front matter and in which line
 */
export async function readFrontMatter(text: string): Promise<MarkdownFile | { readonly problem: string }> {
  const match = /^\ufeff?---[ \t]*\r?\n(?<yaml>[^]*?\r?\n|)---[ \t]*(?:\r?\n(?<body>[^]*))?$/.exec(text)
  if (match?.groups === undefined) return { data: {}, body: text }
  // Imported lazily: most runs have no front matter like this.
  const { parseYaml } = await import('./parse-yaml.ts')
  const parsed = parseYaml(match.groups['yaml'] ?? '')
  if ('problem' in parsed) return { problem: `${parsed.line + 1}: ${parsed.problem}` }
  const data = parsed.value ?? {}
  if (typeof data !== 'object' || Array.isArray(data)) return { problem: '1: the front matter is not a table' }
  return { data: data as Record<string, unknown>, body: match.groups['body'] ?? '' }
}

/** A list written as YAML or as one text, `Read, Bash(git add:*)`. Commas within brackets are part of an entry. */
export const toolList = z
  .union([z.string(), z.array(z.string())])
  .transform((value) =>
    (typeof value === 'string' ? splitEntries(value) : value)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  )

/** The parts between commas outside parentheses. */
function splitEntries(text: string): readonly string[] {
  const parts = ['']
  let depth = 0
  for (const character of text) {
    if (character === '(') depth++
    else if (character === ')') depth = Math.max(depth - 1, 0)
    if (character === ',' && depth === 0) parts.push('')
    else parts.push(`${parts.pop() ?? ''}${character}`)
  }
  return parts
}
