/**
 * Splits a line into words by the POSIX rules for quoting, without expanding anything. Undefined if a quote isn't closed or if the line ends in an
 * unquoted backslash. Never used for a command that would run.
 *
 * @example console.log(splitWords(`git commit -m 'two words'`)) // git, commit, -m, two words
 */
export function splitWords(line: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? ''
    if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (character === "'") {
      const end = line.indexOf("'", at + 1)
      if (end < 0) return undefined
      word = (word ?? '') + line.slice(at + 1, end)
      at = end
    } else if (character === '"') {
      const quoted = /^"((?:[^"\\]|\\[^])*)"/.exec(line.slice(at))
      if (quoted === null) return undefined
      word = (word ?? '') + (quoted[1] ?? '').replace(/\\(["\\$`])/g, '$1')
      at += quoted[0].length - 1
    } else if (character === '\\') {
      if (at + 1 === line.length) return undefined
      word = (word ?? '') + (line[++at] ?? '')
    } else word = (word ?? '') + character
  }
  if (word !== undefined) words.push(word)
  return words
}
