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
    return faultOf(error)
  }
}

/** A parsed YAML text. `lineOf` returns the line on which the value at a path of keys and indexes begins. */
type YamlWithLines = { readonly value: unknown; readonly lineOf: (path: readonly PropertyKey[]) => number }

/** Parses YAML like `parseYaml`, for callers that report the line of a wrong value. */
export function parseYamlWithLines(text: string): YamlWithLines | { readonly line: number; readonly problem: string } {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter })
  const [error] = document.errors
  if (error !== undefined) return faultOf(error)
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

/** The line and the words of an error. The parser's own words end with a place, which is wrong if the text is only a part of a file. */
function faultOf({ code, message, linePos }: YAMLParseError): { readonly line: number; readonly problem: string } {
  const words = (message.split('\n')[0] ?? 'not YAML').replace(/ at line \d+, column \d+:?$/, '')
  const advice = code === 'BLOCK_AS_IMPLICIT_KEY' ? '. Quote a value that contains ": "' : ''
  return { line: linePos?.[0].line ?? 1, problem: `${words}${advice}` }
}
