/** The text that is shown in place of a value that may be a secret. */
const hidden = '(hidden)'

/** Tables whose values are hidden, whatever their keys are. */
const tables: ReadonlySet<string> = new Set(['http_headers', 'headers', 'query_params', 'set', 'env'])
/** Settings that contain a command or its arguments. The program's name isn't a secret, but its arguments may be. */
const commands: ReadonlySet<string> = new Set(['approval_program', 'args'])

/** Prepares a setting for display: hides headers, variables and arguments, and the user names, passwords and queries in addresses. */
export function hideSecrets(path: readonly string[], value: unknown): unknown {
  const name = path.at(-1) ?? ''
  if (path.some((part) => tables.has(part)) && typeof value !== 'object') return hidden
  if (typeof value === 'string') return withoutPassword(value)
  if (Array.isArray(value)) {
    if (!commands.has(name)) return value.map((entry: unknown) => hideSecrets(path, entry))
    return value.map((entry: unknown, index) => (name === 'approval_program' && index === 0 ? entry : hidden))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hideSecrets([...path, key], inner)]))
}

function withoutPassword(text: string): string {
  if (!/^https?:/i.test(text) || !URL.canParse(text)) return text
  const url = new URL(text)
  if (url.username === '' && url.password === '' && url.search === '') return text
  url.username = ''
  url.password = ''
  url.search = url.search === '' ? '' : hidden
  return url.href
}
