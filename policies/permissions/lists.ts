import { readFile } from '../read-file.ts'
import { RuleError, type Position } from '../rules/rule-error.ts'
import type { RuleDecision } from '../rules/rule.ts'

/** The permission lists of a settings file that isn't JSON, already parsed by the caller. An absent list counts as empty. */
export type PermissionLists = {
  readonly allow?: readonly string[] | undefined
  readonly ask?: readonly string[] | undefined
  readonly deny?: readonly string[] | undefined
}

/** An entry of a permission list, with its position in the settings file. */
export type ListedEntry = { readonly entry: string; readonly decision: RuleDecision; readonly at: Position }

const names: readonly (readonly ['deny' | 'ask' | 'allow', RuleDecision])[] = [
  ['deny', 'forbidden'],
  ['ask', 'prompt'],
  ['allow', 'allow'],
]

/**
 * Reads the entries of the lists in a settings file, with their positions. If the lists have already been read, only the positions are looked up.
 *
 * @throws RuleError for a file that can't be read or isn't JSON, or whose lists are invalid
 */
export function readLists(file: {
  readonly path: string
  readonly text?: string
  readonly lists?: PermissionLists
}): readonly ListedEntry[] {
  const { path, lists } = file
  if (lists !== undefined) return listedEntries(lists, file.text ?? '')
  const text = file.text ?? readSettings(path)
  const settings = parseSettings(path, text)
  const { locate, positionAt } = locator(text)
  if (!isObject(settings)) throw new RuleError(path, start, 'the settings are not an object', '{"permissions": {…}}')
  const permissions = settings['permissions']
  if (permissions === undefined) return []
  if (!isObject(permissions)) {
    throw new RuleError(
      path,
      locate('"permissions"', 0).at,
      'permissions is not an object',
      '{"allow": […], "ask": […], "deny": […]}',
    )
  }
  return names.flatMap(([name, decision]) => {
    const list = permissions[name]
    if (list === undefined) return []
    let from = Math.max(0, text.indexOf(`"${name}"`))
    if (!Array.isArray(list)) {
      const message = `permissions.${name} is not a list`
      throw new RuleError(path, positionAt(from), message, `"${name}": ["Bash(git push:*)"]`)
    }
    let lost = false
    return list.map((entry: unknown) => {
      // If an entry isn't found, because the file spells it with other escapes, the entries after it are not searched for. That way, the time grows
      // only linearly with the length of the list.
      const found = lost ? { at: positionAt(from), end: undefined } : locate(JSON.stringify(entry), from)
      lost ||= found.end === undefined
      from = found.end ?? from
      if (typeof entry !== 'string')
        throw new RuleError(path, found.at, `an entry of permissions.${name} is not a string`, '"Tool(what)"')
      return { entry, decision, at: found.at }
    })
  })
}

function listedEntries(given: PermissionLists, text: string): readonly ListedEntry[] {
  const { locate } = locator(text)
  return names.flatMap(([name, decision]) =>
    (given[name] ?? []).map((entry) => {
      const quoted = [JSON.stringify(entry), `'${entry}'`].find((form) => text.includes(form))
      return { entry, decision, at: quoted === undefined ? start : locate(quoted, 0).at }
    }),
  )
}

const start: Position = { line: 1, column: 1 }

function parseSettings(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const offset = /position (\d+)/.exec(message)?.[1]
    const at = locator(text).positionAt(offset === undefined ? text.length : Number(offset))
    throw new RuleError(path, at, `the settings are not JSON: ${message}`, 'JSON', { cause })
  }
}

const largest = 16 * 1024 * 1024

function readSettings(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFile(path, largest))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new RuleError(path, start, `the settings can't be read: ${why}`, 'a readable file in UTF-8', { cause })
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Located = { readonly at: Position; readonly end: number | undefined }

/** Returns functions that find positions in a text. The lines of the text are counted only once. */
function locator(text: string): {
  readonly positionAt: (offset: number) => Position
  readonly locate: (part: string, from: number) => Located
} {
  let starts: readonly number[] | undefined
  const positionAt = (offset: number): Position => {
    starts ??= [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
  return {
    positionAt,
    locate: (part, from) => {
      const found = text.indexOf(part, from)
      return found < 0 ? { at: positionAt(from), end: undefined } : { at: positionAt(found), end: found + part.length }
    },
  }
}
