/**
 * A line of a diff, with its line numbers before and after the change. For a side that lacks the line, the number is that of the side's next line.
 */
export type DiffLine = {
  readonly mark: ' ' | '+' | '-'
  readonly text: string
  readonly oldLine: number
  readonly newLine: number
}

/** A changed part of a file, with its context lines. */
type Hunk = { readonly heading: string; readonly lines: readonly DiffLine[] }

/** What a diff says about one file. */
export type DiffFile = {
  /** The path after the change; for a deleted file, its path before the change. */
  readonly path: string
  readonly kind: 'add' | 'delete' | 'update'
  /** The changed parts of the file. Empty for a binary or an empty file, and if only the file's name or mode was changed. */
  readonly hunks: readonly Hunk[]
}

type Draft = { path: string | undefined; kind: DiffFile['kind']; hunks: Hunk[] }

const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?/

/**
 * Parses a unified diff, as git and `diff -u` write it. Text before it and between its files is skipped.
 *
 * @returns the files in order, none if the text is not a unified diff; for an incomplete diff or a merge's combined diff, a sentence that says so
 */
export function parseDiff(diff: string): readonly DiffFile[] | string {
  const lines = diff.split('\n')
  const drafts: Draft[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const current = drafts.at(-1)
    if (line.startsWith('diff --git ')) {
      drafts.push({ path: nameInHeader(line.slice('diff --git '.length)), kind: 'update', hunks: [] })
    } else if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ') === true) {
      const [before, after] = [nameOf(line.slice(4)), nameOf(lines[++at]?.slice(4) ?? '')]
      const isNew = current === undefined || current.hunks.length > 0
      const draft: Draft = isNew ? { path: undefined, kind: 'update', hunks: [] } : current
      if (isNew) drafts.push(draft)
      if (before === '/dev/null') draft.kind = 'add'
      if (after === '/dev/null') draft.kind = 'delete'
      draft.path = withoutPrefix(before, after)
    } else if (current !== undefined && line.startsWith('rename to ')) current.path = nameOf(line.slice(10))
    else if (current !== undefined && line.startsWith('new file mode ')) current.kind = 'add'
    else if (current !== undefined && line.startsWith('deleted file mode ')) current.kind = 'delete'
    else if (line.startsWith('@@@')) return 'It is the combined diff of a merge. Give a diff against a single parent.'
    else if (current !== undefined && line.startsWith('@@ ')) {
      const read = readHunk(lines, at)
      if (read === undefined) return `It is incomplete: the hunk that begins at line ${at + 1} lacks some of its lines.`
      current.hunks.push(read.hunk)
      at = read.last
    }
  }
  return drafts.flatMap(({ path, ...rest }) => (path === undefined ? [] : [{ path, ...rest }]))
}

function readHunk(lines: readonly string[], at: number): { readonly hunk: Hunk; readonly last: number } | undefined {
  const header = lines[at] ?? ''
  const match = hunkHeader.exec(header)
  if (match === null) return undefined
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] = match
  let [oldLine, oldLeft, newLine, newLeft] = [oldStart, oldCount, newStart, newCount].map(Number) as [
    number,
    number,
    number,
    number,
  ]
  const read: DiffLine[] = []
  let last = at
  while (oldLeft > 0 || newLeft > 0) {
    const line = lines[++last]
    if (line === undefined) return undefined
    if (line.startsWith('\\')) continue
    // An editor or a mail program may have removed the space that marks an empty context line.
    const mark = line === '' ? ' ' : line.charAt(0)
    if (mark !== ' ' && mark !== '+' && mark !== '-') return undefined
    read.push({ mark, text: line.slice(1), oldLine, newLine })
    if (mark !== '+') [oldLine, oldLeft] = [oldLine + 1, oldLeft - 1]
    if (mark !== '-') [newLine, newLeft] = [newLine + 1, newLeft - 1]
    if (oldLeft < 0 || newLeft < 0) return undefined
  }
  return { hunk: { heading: header.slice(match[0].length), lines: read }, last }
}

/**
 * Returns a file's name from its `diff --git` line, for a file without `---` and `+++` lines. Undefined if the two halves of the line name different
 * files.
 */
function nameInHeader(rest: string): string | undefined {
  const half = (rest.length - 1) / 2
  const [before, after] = [nameOf(rest.slice(0, half)), nameOf(rest.slice(half + 1))]
  return before.slice(2) === after.slice(2) ? withoutPrefix(before, after) : undefined
}

function withoutPrefix(before: string, after: string): string {
  const isPrefixed =
    (before === '/dev/null' || before.startsWith('a/')) && (after === '/dev/null' || after.startsWith('b/'))
  const name = after === '/dev/null' ? before : after
  return isPrefixed ? name.slice(2) : name
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '"': 34, '\\': 92 }

/** Decodes a file name from a diff. Git quotes a name with special characters as in C. `diff -u` appends a tab and the time, which are removed. */
function nameOf(written: string): string {
  const text = written.endsWith('\r') ? written.slice(0, -1) : written
  if (!text.startsWith('"')) return text.split('\t', 1)[0] ?? ''
  const bytes: number[] = []
  const inside = Buffer.from(text.slice(1, text.lastIndexOf('"')))
  for (let at = 0; at < inside.length; at++) {
    const byte = inside[at] ?? 0
    if (byte !== 92) {
      bytes.push(byte)
      continue
    }
    const octal = /^[0-7]{3}/.exec(inside.toString('latin1', at + 1, at + 4))?.[0]
    bytes.push(octal === undefined ? (escapes[String.fromCharCode(inside[at + 1] ?? 0)] ?? 63) : parseInt(octal, 8))
    at += octal === undefined ? 1 : 3
  }
  return Buffer.from(bytes).toString()
}
