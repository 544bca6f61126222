/**
 * Finds the files that instructions import: `@path` at the start of a word, as in Claude Code. A path contains a `.` or `/`, so a name such as
 * `@alice` is none. Code blocks and text between backticks import nothing.
 */
export function findImports(text: string): readonly string[] {
  const prose = withoutCodeBlocks(text).replaceAll(/`[^`\n]*`?/g, (code) =>
    code.length > 1 && code.endsWith('`') ? '' : code,
  )
  return [...prose.matchAll(/(?:^|\s)@(?<path>[\w.~/-][\w./-]*)/g)]
    .map((match) => withoutFinalDots(match.groups?.['path'] ?? ''))
    .filter((path) => path !== '' && /[./]/.test(path))
}

/** Removes code blocks. A block that is never closed counts as text. */
function withoutCodeBlocks(text: string): string {
  const lines = text.split('\n')
  const last = { '```': lines.length, '~~~': lines.length }
  for (const [at, line] of lines.entries()) for (const fence of fences) if (line.startsWith(fence)) last[fence] = at
  const kept: string[] = []
  let open: string | undefined
  for (const [at, line] of lines.entries()) {
    const fence = fences.find((one) => line.startsWith(one))
    if (open !== undefined) {
      if (!line.startsWith(open)) continue
      kept.push(line.slice(open.length))
      open = undefined
    } else if (fence !== undefined && last[fence] > at) open = fence
    else kept.push(line)
  }
  return kept.join('\n')
}

const fences = ['```', '~~~'] as const

function withoutFinalDots(path: string): string {
  let end = path.length
  while (path[end - 1] === '.') end--
  return path.slice(0, end)
}
