/**
 * The files that a text of instructions imports: `@path` at the start of a word, as Claude Code reads it. What stands in a
 * code block or between backticks is text about imports, not one.
 */
export function findImports(text: string): readonly string[] {
  const prose = text.replaceAll(/^(?<fence>```|~~~)[^]*?^\k<fence>/gm, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/(?:^|\s)@(?<path>[\w.~/-][\w./-]*)/g)]
    .map((match) => (match.groups?.['path'] ?? '').replace(/[.]+$/, ''))
    .filter((path) => path !== '' && /[./]/.test(path))
}
