import { tmpdir } from 'node:os'

/**
 * Compares what a tool returned with what a recording expects. Placeholders in the recording mark the parts that may vary.
 *
 * On a line of its own, `<<lines>>` matches any number of lines, including none. Within a line:
 *
 * - `<<any>>` any text, including none
 * - `<<number>>` digits, optionally with a decimal part
 * - `<<duration>>` a number and a unit: `0.0132 seconds`, `12ms`, `1m 3s`
 * - `<<hash>>` four or more hexadecimal digits
 * - `<<cwd>>` the working directory of the run
 * - `<<tmp>>` a path in a folder for temporary files
 *
 * Everything else must be equal, except for colour escapes, carriage returns and blanks at the end of a line, and empty lines at the end of
 * the text, which are not compared.
 */
export function compareOutput(expected: string, got: string, cwd: string): Difference | undefined {
  const patterns = outputLines(expected)
  const lines = outputLines(got)
  const matched = longestMatch(patterns, lines, cwd)
  if (matched === undefined) return undefined
  return { expected: patterns, got: lines, ...matched }
}

/**
 * The first place at which the expected and the actual text differ: line `expectedAt` of the expected text and line `gotAt` of the actual one,
 * counted from 0. Everything before these lines is equal.
 */
export type Difference = {
  readonly expected: readonly string[]
  readonly got: readonly string[]
  readonly expectedAt: number
  readonly gotAt: number
}

const number = '\\d+(?:\\.\\d+)?'
const unit = '(?:ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?)'

/** Returns the source of a regular expression for a placeholder. */
function placeholder(name: string, cwd: string): string | undefined {
  switch (name) {
    case 'any':
      return '.*'
    case 'number':
      return number
    case 'duration':
      return `${number} ?${unit}(?: ${number} ?${unit})*`
    case 'hash':
      return '[0-9a-fA-F]{4,}'
    case 'cwd':
      return escape(cwd)
    case 'tmp':
      return temporaryPath
    default:
      // This only looks like a placeholder. It may be a shift expression in printed code, for example.
      return undefined
  }
}

/** Matches a path in a folder for temporary files, up to white space, a quote, a parenthesis, a `]` or a colon. */
const temporaryPath = `(?:${['/private/tmp', '/tmp', '/private/var/folders', '/var/folders', tmpdir()].map((folder) => escape(folder)).join('|')})(?:/[^\\s:'"()\\]]*)?`

function linePattern(line: string, cwd: string): RegExp {
  const parts = line.split(/<<(\w+)>>/)
  const source = parts.map((part, at) => {
    if (at % 2 === 0) return escape(part)
    // A placeholder also matches itself, because a tool may print a text that contains placeholders, such as a recording.
    const [literal, pattern] = [escape(`<<${part}>>`), placeholder(part, cwd)]
    return pattern === undefined ? literal : `(?:${pattern}|${literal})`
  })
  return new RegExp(`^${source.join('')}$`, 'su')
}

/**
 * Compares lines with the patterns of a recording. Returns undefined if everything matches; otherwise the positions in both lists up to which they
 * agree.
 */
function longestMatch(
  patterns: readonly string[],
  lines: readonly string[],
  cwd: string,
): { readonly expectedAt: number; readonly gotAt: number } | undefined {
  // `reachable` contains every total number of lines that the first `at` patterns can match.
  let reachable = new Set([0])
  for (const [at, pattern] of patterns.entries()) {
    const next = new Set<number>()
    if (pattern.trim() === '<<lines>>') {
      for (let count = Math.min(...reachable); count <= lines.length; count++) next.add(count)
    } else {
      const matches = linePattern(pattern, cwd)
      for (const count of reachable) {
        const line = lines[count]
        if (line !== undefined && matches.test(line)) next.add(count + 1)
        // Trailing empty lines are not compared. So after the last line, a pattern that matches an empty line needs no line to match.
        if (line === undefined && matches.test('')) next.add(count)
      }
    }
    if (next.size === 0) return { expectedAt: at, gotAt: Math.min(...reachable) }
    reachable = next
  }
  return reachable.has(lines.length) ? undefined : { expectedAt: patterns.length, gotAt: Math.max(...reachable) }
}

/** Returns a text's lines in the form in which they are compared. */
function outputLines(text: string): readonly string[] {
  const lines = text
    // Removes colour and cursor sequences (ECMA-48 CSI), because whether a program prints them depends on its terminal.
    .replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, '')
    .split('\n')
    .map((line) => line.trimEnd())
  while (lines.length > 0 && lines.at(-1) === '') lines.pop()
  return lines
}

function escape(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
