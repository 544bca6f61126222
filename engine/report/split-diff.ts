/** The part of a unified diff that is about one file. */
type FileDiff = {
  readonly path: string
  readonly text: string
  readonly added: number
  readonly removed: number
}

/** Splits a unified diff by file. If the diff was cut off, only what is left of it is split. */
export function splitDiff(diff: string): readonly FileDiff[] {
  const found: { path: string; lines: string[]; added: number; removed: number }[] = []
  let isHeader = true
  let before = ''
  for (const line of diff.split('\n')) {
    if (
      line.startsWith('diff --git ') ||
      (isHeader && line.startsWith('--- ')) ||
      (!isHeader && /^--- (?:a\/|\/dev\/null|")/.test(line))
    ) {
      if (line.startsWith('diff --git ') || found.at(-1)?.lines.some((each) => each.startsWith('@@')) !== false) {
        found.push({ path: pathOf(line.slice(line.lastIndexOf(' b/') + 1)), lines: [], added: 0, removed: 0 })
      }
      isHeader = true
    }
    const current = found.at(-1)
    if (current === undefined) continue
    if (isHeader && line.startsWith('--- ')) before = pathOf(line.slice(4))
    if (isHeader && line.startsWith('+++ ')) {
      const after = pathOf(line.slice(4))
      current.path = after === '/dev/null' ? before : after
    }
    if (line.startsWith('@@')) isHeader = false
    if (!isHeader && line.startsWith('+')) current.added++
    if (!isHeader && line.startsWith('-')) current.removed++
    current.lines.push(line)
  }
  return found.map(({ path, lines, added, removed }) => ({ path, text: lines.join('\n').trimEnd(), added, removed }))
}

function pathOf(text: string): string {
  const bare = (text.split('\t', 1)[0] ?? '').replace(/^"/, '').replace(/"$/, '')
  return bare.replace(/^[ab]\//, '')
}
