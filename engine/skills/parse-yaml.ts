import { isNode, LineCounter, parse, parseDocument, YAMLParseError } from 'yaml'

/**
 * Parses YAML; aliases are refused, since a few of them, nested, would fill the memory. Only this file imports the parser.
 *
 * @returns the value, or what is wrong and in which line
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

/** YAML as data, with the line that the value at a path begins in. */
type YamlWithLines = { readonly value: unknown; readonly lineOf: (path: readonly PropertyKey[]) => number }

/** The same, for whoever says where in the text something is wrong. */
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
