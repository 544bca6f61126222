import { sanitizeText } from './sanitize-output.ts'

// Text from outside is read on terminals, and in the logs of CI jobs, whose runners execute some of the lines that a job prints.

const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/
const turning = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Text of several lines that can neither control a terminal nor change the order in which its characters are shown, and in which a CI's runner finds no
 * command.
 */
export function harmless(text: string): string {
  return withoutCommands(readable(text))
}

/** The same for text that must stay on its line: with a line feed, a file's name could fake a line of ours. */
export function harmlessLine(text: string): string {
  return inOneLine(readable(text))
}

/** A line of ours, which may be coloured, around text that has already been made readable. */
export function inOneLine(text: string): string {
  return withoutCommands(text.replaceAll('\n', '⏎'))
}

/** Text without control characters and direction marks. In a line of ours, it can still contain a command for a CI's runner. */
export function readable(text: string): string {
  return (control.test(text) ? sanitizeText(text) : text).replace(
    turning,
    (sign) => `\\u{${sign.charCodeAt(0).toString(16)}}`,
  )
}

/**
 * JSON without commands for a CI's runner, and without signs that are not to be seen on a terminal. What it says stays the same, because all of them are in
 * strings, where they can be escaped.
 */
export function harmlessJson(json: string): string {
  const marked = json.includes('#')
    ? json.replace(/[^\s"\\[\]{}]+\[?/g, (word) => (isCommand(word) ? `${word.slice(0, -1)}\\u005b` : word))
    : json
  return marked.replace(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (sign) => `\\u${hex(sign)}`)
}

/** Puts spaces into the marks with which commands begin. GitHub executes a line `::name …::…`, which may begin with white space;
 * the others take effect anywhere in a line. */
function withoutCommands(text: string): string {
  const marked = text.includes('#')
    ? text.replace(/[^\s[]+\[?/g, (word) => (isCommand(word) ? word.replaceAll('#', '# ') : word))
    : text
  if (!marked.includes(':')) return marked
  return marked.replace(
    /^([\t\v\f \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\p{Cf}]*:\p{Cf}*:)(.*)/gmu,
    (line, mark: string, rest: string) =>
      withoutForm(rest).includes('::') ? `${mark.replaceAll(':', ': ')}${rest}` : line,
  )
}

/** Whether a word is the beginning of a command: `##[`, `##vso[` or `##teamcity[`. */
function isCommand(word: string): boolean {
  return word.endsWith('[') && withoutForm(word).includes('##')
}

/** The text without characters that have no form, which a runner may overlook when it searches for a command. */
function withoutForm(text: string): string {
  return text.replaceAll(/\p{Cf}/gu, '')
}

function hex(sign: string): string {
  return sign.charCodeAt(0).toString(16).padStart(4, '0')
}
