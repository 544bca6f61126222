import { isNode, LineCounter, parse, parseDocument, YAMLParseError } from 'yaml'

/**
 * Parses YAML. Aliases are rejected, because a few nested aliases can expand until memory runs out. Only this file imports the parser.
 *
 * @returns the value, or what is wrong and on which line
 */
export function parseYaml(
  text: string,
): { readonly value: unknown } | { readonly line: number; readonly problem: string } {
  try {
    return { value: parse(text, { maxAliasCount: 0 }) as unknown }
  } catch (error) {
    if (!(error instanceof YAMLParseError)) return { line: 1, problem: (error as Error).message }
    const [at] = error.linePos ?? []
    return { line: at?.line ?? 1, problem: error.message.split('\n')[0] ?? 'not YAML' }
  }
}

/** A parsed YAML text. `lineOf` returns the line on which the value at a path of keys and indexes begins. */
type YamlWithLines = { readonly value: unknown; readonly lineOf: (path: readonly PropertyKey[]) => number }

/** Parses YAML like `parseYaml`, for callers that report the line of a wrong value. */
export function parseYamlWithLines(text: string): YamlWithLines | { readonly line: number; readonly problem: string } {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter })
  const [error] = document.errors
  if (error !== undefined) {
    return { line: error.linePos?.[0].line ?? 1, problem: error.message.split('\n')[0] ?? 'not YAML' }
  }
  try {
    const value = document.toJS({ maxAliasCount: 0 }) as unknown
    return {
      value,
      lineOf: (path) => {
        const node = document.getIn(path, true)
        return isNode(node) && node.range != null ? lineCounter.linePos(node.range[0]).line : 1
      },
    }
  } catch (refused) {
    return { line: 1, problem: (refused as Error).message }
  }
}
