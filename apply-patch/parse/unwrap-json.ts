/**
 * Extracts a patch from the JSON that some models send: `["apply_patch", "…"]`, an object with `input`, `patch` or a similar field, a nesting of
 * these, a string by itself, or the content of a string without its quotes, in which `\n` is still escaped.
 *
 * @returns undefined if the text has none of these forms
 */
export function unwrapJson(bytes: Buffer): { readonly form: 'json' | 'escaped'; readonly patch: string } | undefined {
  let first = 0
  while (bytes[first] === 32 || bytes[first] === 10 || bytes[first] === 9) first++
  if (bytes[first] === 0x5b || bytes[first] === 0x7b || bytes[first] === 0x22) {
    const patch = findPatch(parse(bytes.toString('utf8', first)), 0)
    if (patch !== undefined) return { form: 'json', patch }
  }
  if (bytes.includes('Begin Patch\\n')) {
    const text = bytes.toString('utf8').trim()
    const patch = text.includes('\n') ? undefined : parse(`"${text}"`)
    if (typeof patch === 'string') return { form: 'escaped', patch }
  }
  return undefined
}

function findPatch(value: unknown, depth: number): string | undefined {
  if (depth > 4) return undefined
  if (typeof value === 'string') return value.includes('Begin Patch') ? value : undefined
  if (Array.isArray(value)) {
    const found = value.map((item) => findPatch(item, depth + 1)).filter((item) => item !== undefined)
    return found.length === 1 ? found[0] : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const fields: Readonly<Record<string, unknown>> = { ...value }
  for (const name of ['input', 'patch', 'arguments', 'command', 'cmd']) {
    const found = findPatch(fields[name], depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The text isn't JSON, so no patch can be extracted from it here.
    return undefined
  }
}
