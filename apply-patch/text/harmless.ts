// Paths and lines of files are printed on terminals, and in the logs of CI jobs, whose runners execute some of the lines that a job prints.

/** Text in which control characters and direction marks are visible, and in which a CI's runner finds no command. */
export function harmless(text: string): string {
  return withoutCommands(text.replace(/[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, codePoint))
}

/** The same for a text that must stay on its line: with a line feed, a file's name could fake a line of ours. */
export function harmlessLine(text: string): string {
  return harmless(text.replaceAll('\n', '⏎'))
}

/** JSON that says the same, without such commands and characters. */
export function harmlessJson(json: string): string {
  return json
    .replace(/[^\s"\\[\]{}]+\[?/g, (word) => (isCommand(word) ? `${word.slice(0, -1)}\\u005b` : word))
    .replace(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (sign) => `\\u${hex(sign)}`)
}

/** Puts spaces into the marks with which commands begin: `##[`, `##vso[` and `##teamcity[` anywhere, and `::name …::` after white space. */
function withoutCommands(text: string): string {
  return text
    .replace(/[^\s[]+\[?/g, (word) => (isCommand(word) ? word.replaceAll('#', '# ') : word))
    .replace(
      /^([\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\p{Cf}]*:\p{Cf}*:)(.*)/gmu,
      (line, mark: string, rest: string) =>
        withoutForm(rest).includes('::') ? `${mark.replaceAll(':', ': ')}${rest}` : line,
    )
}

function isCommand(word: string): boolean {
  return word.endsWith('[') && withoutForm(word).includes('##')
}

/** The text without characters that have no form, which a runner may overlook. */
function withoutForm(text: string): string {
  return text.replaceAll(/\p{Cf}/gu, '')
}

function codePoint(sign: string): string {
  return `<U+${hex(sign).toUpperCase()}>`
}

function hex(sign: string): string {
  return sign.charCodeAt(0).toString(16).padStart(4, '0')
}
