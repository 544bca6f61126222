import * as z from 'zod'

/** A Markdown file with its front matter parsed. */
export type MarkdownFile = { readonly data: Readonly<Record<string, unknown>>; readonly body: string }

/**
 * Splits a Markdown file into its front matter (YAML between two lines of `---`) and its body. Front matter is optional.
 *
 * @returns the parts, or what is wrong with the front matter and on which line
 */
export async function readFrontMatter(text: string): Promise<MarkdownFile | { readonly problem: string }> {
  const match = /^\ufeff?---[ \t]*\r?\n(?<yaml>[^]*?\r?\n|)---[ \t]*(?:\r?\n(?<body>[^]*))?$/.exec(text)
  if (match?.groups === undefined) return { data: {}, body: text }
  // Imported lazily, because most runs read no front matter.
  const { parseYaml } = await import('./parse-yaml.ts')
  const parsed = parseYaml(match.groups['yaml'] ?? '')
  if ('problem' in parsed) return { problem: `${parsed.line + 1}: ${parsed.problem}` }
  const data = parsed.value ?? {}
  if (typeof data !== 'object' || Array.isArray(data))
    return { problem: '1: the front matter must consist of fields, such as description: …' }
  return { data: data as Record<string, unknown>, body: match.groups['body'] ?? '' }
}

/** A list of tools, written as a YAML list or as one string: `Read, Bash(git add:*)`. Commas in parentheses don't separate entries. */
export const toolList = z
  .union([z.string(), z.array(z.string())])
  .transform((value) =>
    (typeof value === 'string' ? splitEntries(value) : value)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  )

/** Splits a text at the commas outside parentheses. */
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
