import { relative, resolve } from 'node:path'
import { sanitizeText } from '../../core/text/sanitize-output.ts'

/** A call in the words of Claude Code. */
type Named = { readonly name: string; readonly input: Readonly<Record<string, unknown>> }

const kinds: Readonly<Record<string, string>> = {
  ...{ Bash: 'execute', Read: 'read', Edit: 'edit', Write: 'edit', NotebookEdit: 'edit', WebFetch: 'fetch' },
  ...{ Glob: 'search', Grep: 'search', LS: 'search', WebSearch: 'fetch', TodoWrite: 'think', Agent: 'think' },
  ...{ EnterPlanMode: 'switch_mode', ExitPlanMode: 'switch_mode' },
}

/** The longest title of a call that needs no decision, in characters. */
const longestTitle = 200

/** What a client shows of a call, which is several if it edits several files. */
export function showToolCall(calls: readonly Named[], cwd: string, longest = longestTitle) {
  const edits = calls.filter(({ name }) => kinds[name] === 'edit')
  const shown = edits.length > 0 ? edits : calls.slice(0, 1)
  const [{ name, input } = { name: 'Call', input: {} }] = shown
  const paths = shown.flatMap(({ input: { file_path: file, path = file } }) =>
    typeof path === 'string' ? [resolve(cwd, path)] : [],
  )
  const { command, pattern, url, plan } = input
  const about =
    [command, pattern, url].find((each) => typeof each === 'string') ??
    paths.map((path) => nameOf(path, cwd)).join(', ')
  const title = sanitizeText(name === 'Bash' ? String(about) : `${name} ${String(about)}`).trim()
  return {
    title: title.length > longest ? `${title.slice(0, longest - 1)}…` : title,
    kind: kinds[name] ?? 'other',
    content: [...shown.flatMap((each) => diffOf(each, cwd)), ...(typeof plan === 'string' ? [text(plan)] : [])],
    locations: [...new Set(paths)].map((path) => ({ path })),
    rawInput: shown.length === 1 ? input : { calls: shown.map((one) => one.input) },
  }
}

/** A text as the content of a call. */
export function text(said: string): object {
  return { type: 'content', content: { type: 'text', text: said } }
}

function nameOf(path: string, cwd: string): string {
  const name = relative(cwd, path)
  return name === '' || name.startsWith('..') ? path : name
}

function diffOf(
  { input: { file_path: file, content, old_string: old, new_string: now = content } }: Named,
  cwd: string,
): readonly object[] {
  if (typeof file !== 'string' || typeof now !== 'string') return []
  return [{ type: 'diff', path: resolve(cwd, file), oldText: typeof old === 'string' ? old : null, newText: now }]
}
