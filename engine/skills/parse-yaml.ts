import { parse, YAMLParseError } from 'yaml'

/**
 * YAML as data; aliases are refused, since a few of them, nested, would fill the memory. The only door to the parser.
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
