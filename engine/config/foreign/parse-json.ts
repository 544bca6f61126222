import { locateInJson, positionAt } from '../../core/locate-json.ts'

/** The parsed JSON of another program's file, with the positions of its values. */
export type ForeignJson = {
  readonly value: unknown
  /** Returns the position of the value at a path, as `file:line:column`. */
  readonly place: (path: readonly PropertyKey[]) => string
}

/** Parses JSON. Errors are reported with `file:line:column`. */
export function parseForeignJson(text: string, path: string): ForeignJson | { readonly reason: string } {
  const place = ({ line, column }: { readonly line: number; readonly column: number }): string =>
    `${path}:${line}:${column}`
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, '')), place: (keys) => place(locateInJson(text, keys)) }
  } catch (error) {
    const { message } = error as Error
    const offset = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
    return { reason: `${place(positionAt(text, offset))}: not valid JSON: ${message}` }
  }
}
