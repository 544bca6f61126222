import * as z from 'zod'
import { checkCommand, type CheckedCommand, type CheckOptions } from './check.ts'
import { RuleError } from './rules/rule-error.ts'

/**
 * Creates the schema of a row that is written in JSON: a command alone, or a command with the expected decision. It is called only when the schema is
 * first needed.
 */
const makeShape = () =>
  z.union([
    z.string(),
    // Strict, because a row with a misspelt `expect` would test nothing.
    z.strictObject({
      command: z.union([z.string(), z.array(z.string()).min(1)]),
      expect: z.enum(['allow', 'ask', 'deny']).optional(),
      label: z.enum(['safe', 'unsafe']).optional(),
      why: z.string().optional(),
    }),
  ])

let shape: ReturnType<typeof makeShape> | undefined

/** One row of a table of commands. */
export type TableRow = {
  readonly line: number
  readonly command: string | readonly string[]
  /** The decisions with which the row passes; undefined if the row doesn't expect any particular decision. */
  readonly expected: readonly CheckedCommand['decision'][] | undefined
}

/**
 * Parses the text of a file with one command per line: plain shell text, a JSON string, or a JSON object. The object has `command` (a line or an
 * argument vector) and optionally `expect` (a decision), `label` (`safe` must be allowed, `unsafe` must not) and `why`. Empty lines and lines that
 * begin with `#` are skipped. Throws `RuleError` for a line that begins like a JSON object but isn't an object of this form.
 *
 * @example const rows = readCommandTable('table.jsonl', '{"command": "ls", "expect": "allow"}')
 */
export function readCommandTable(path: string, text: string): readonly TableRow[] {
  return text.split(/\r?\n/).flatMap((content, at): readonly TableRow[] => {
    const line = at + 1
    const trimmed = content.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    // A shell line may begin with a brace too, but in a JSON object the name of a field follows immediately.
    if (!/^(?:"|\{\s*")/.test(trimmed)) return [{ line, command: content, expected: undefined }]
    const value = parseJson(trimmed)
    if (value === undefined && trimmed.startsWith('"')) return [{ line, command: content, expected: undefined }]
    const parsed = (shape ??= makeShape()).safeParse(value)
    if (!parsed.success) {
      const expected = 'a shell line, a JSON string, or {"command": …, "expect": "allow" | "ask" | "deny", "why": …}'
      const unknown = unknownKeys(value)
      const what = unknown.length === 0 ? 'this is not a command' : `this has an unknown key: ${unknown.join(', ')}`
      throw new RuleError(path, { line, column: 1 }, what, expected)
    }
    if (typeof parsed.data === 'string') return [{ line, command: parsed.data, expected: undefined }]
    return [{ line, command: parsed.data.command, expected: expectation(parsed.data) }]
  })
}

function unknownKeys(value: unknown): readonly string[] {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : []
  return keys.filter((key) => !['command', 'expect', 'label', 'why'].includes(key)).slice(0, 5)
}

function expectation(row: {
  expect?: CheckedCommand['decision'] | undefined
  label?: string | undefined
}): TableRow['expected'] {
  if (row.expect !== undefined) return [row.expect]
  if (row.label === undefined) return undefined
  return row.label === 'safe' ? ['allow'] : ['ask', 'deny']
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The text isn't JSON. The caller decides what to do with it.
    return undefined
  }
}

/** The result of checking a table of commands. */
export type TableResult = {
  readonly passed: number
  /** Rows whose decision isn't the expected one. */
  readonly failed: readonly { readonly row: TableRow; readonly checked: CheckedCommand }[]
  /** The number of rows that expect no particular decision. */
  readonly unjudged: number
}

/**
 * Compares the decision about each command of a table with the expected decision. No command is run.
 *
 * @example
 * const rows = readCommandTable('table.jsonl', '{"command": "ls", "expect": "allow"}')
 * const { passed, failed } = testCommandTable(rows, { approvalMode: 'untrusted', sandbox: 'read-only' })
 */
export function testCommandTable(rows: readonly TableRow[], options: CheckOptions): TableResult {
  const judged = rows.filter(({ expected }) => expected !== undefined)
  const failed = judged.flatMap((row) => {
    const checked = checkCommand(row.command, options)
    return row.expected?.includes(checked.decision) === true ? [] : [{ row, checked }]
  })
  return { passed: judged.length - failed.length, failed, unjudged: rows.length - judged.length }
}
