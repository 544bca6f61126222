/** Joins an argument vector to one line that a POSIX shell would split back into the same words. */
export function shellJoin(argv: readonly string[]): string {
  return argv.map(quote).join(' ')
}

function quote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return `'${word.replaceAll("'", `'\\''`)}'`
}
