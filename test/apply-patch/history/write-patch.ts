/** Writes a commit as a patch, also with the mistakes that models make. */
import type { ChangedFile, Commit, Hunk } from './read-commits.ts'

type Written = { readonly anchors: readonly string[]; readonly lines: readonly string[] }
type Writer = {
  /** The number of context lines around each change. Default: 3. */
  readonly context?: number
  readonly chunk?: (hunk: Hunk, file: ChangedFile, random: (limit: number) => number) => Written | undefined
  /** Changes the lines of one file's operation, header included. */
  readonly operation?: (lines: readonly string[], file: ChangedFile) => readonly string[]
  readonly chunks?: (chunks: readonly Written[]) => readonly Written[]
  /** Changes the whole text. */
  readonly text?: (text: string) => string
  /** Whether the patch must be refused, because its meaning isn't certain. */
  readonly mustFail?: true
  /** Whether the mistake can only be made in a file with more than one chunk. */
  readonly several?: true
}

const bare = (hunk: Hunk): Written => ({ anchors: ['@@'], lines: hunk.lines })
const under = (heading: string, hunk: Hunk): Written => ({
  anchors: [heading === '' ? '@@' : `@@ ${heading}`],
  lines: hunk.lines,
})
const numbers = ({ start, lines }: Hunk, by: number): string => {
  const count = lines.filter((line) => !line.startsWith('+')).length
  return `@@ -${Math.max(1, start + by)},${count} +${Math.max(1, start + by)},${lines.length} @@`
}
/** Changes the chunks that have a heading; undefined if the heading has no whole line in the file, or is too short. */
const withHeading =
  (change: (heading: string, hunk: Hunk) => Written): NonNullable<Writer['chunk']> =>
  (hunk, file) => {
    const heading = wholeHeading(hunk, file)
    return heading === undefined ? bare(hunk) : change(heading, hunk)
  }

/** The ways to write a commit. `clean` patches contain no mistake. */
export const clean: Readonly<Record<string, Writer>> = {
  bare: {},
  headings: { chunk: withHeading(under) },
  numbers: { chunk: (hunk) => ({ anchors: [numbers(hunk, 0)], lines: hunk.lines }) },
}

export const mistakes: Readonly<Record<string, Writer>> = {
  heredoc: { text: (text) => `apply_patch <<'EOF'\n${text}EOF\n` },
  fence: { text: (text) => `\`\`\`diff\n${text}\`\`\`\n` },
  prose: { text: (text) => `Here is the patch:\n\n${text}\nIt should work now.\n` },
  'no newline at the end of chunks': {
    chunk: (hunk) => ({ anchors: ['@@'], lines: [...hunk.lines, '\\ No newline at end of file'] }),
  },
  'git headers': {
    operation: ([header = '', ...rest], { path }) => [
      header,
      `diff --git a/${path} b/${path}`,
      'index 1234567..89abcde 100644',
      `--- a/${path}`,
      `+++ b/${path}`,
      ...rest,
    ],
  },
  'file headers': {
    operation: ([header = '', ...rest], { path }) => [header, `--- a/${path}`, `+++ b/${path}`, ...rest],
  },
  'a/ prefix': { operation: ([header = '', ...rest]) => [header.replace(' File: ', ' File: a/'), ...rest] },
  'block indented': { text: (text) => text.replace(/^(?=.)/gm, '    ') },
  '@@ heading @@': { chunk: withHeading((heading, hunk) => under(`${heading} @@`, hunk)) },
  '70 % of the heading': {
    chunk: withHeading((heading, hunk) => under(heading.slice(0, Math.ceil(heading.length * 0.7)), hunk)),
  },
  'heading...': {
    chunk: withHeading((heading, hunk) => under(`${heading.slice(0, Math.ceil(heading.length * 0.7))}...`, hunk)),
  },
  'heading repeated as context': {
    chunk: (hunk, file) => {
      const heading = wholeHeading(hunk, file)
      const above = linesOf(file.before)[hunk.start - 2]
      return heading !== undefined && heading === above
        ? { anchors: [`@@ ${heading}`], lines: [` ${heading}`, ...hunk.lines] }
        : bare(hunk)
    },
  },
  'numbers stale by 37': { chunk: (hunk) => ({ anchors: [numbers(hunk, 37)], lines: hunk.lines }) },
  'one line of context': { context: 1 },
  'numbers stale, one line of context': {
    context: 1,
    chunk: (hunk) => ({ anchors: [numbers(hunk, 37)], lines: hunk.lines }),
  },
  'numbers stale, with headings, one line of context': {
    context: 1,
    chunk: (hunk) => ({ anchors: [`${numbers(hunk, 37)} ${hunk.heading}`], lines: hunk.lines }),
  },
  'no context': { context: 0 },
  'no context below a heading': { context: 0, chunk: withHeading(under) },
  'unmarked context': {
    chunk: ({ lines }) => ({
      anchors: ['@@'],
      lines: lines.map((line) => (/^ [^+\-@*\\]/.test(line) ? line.slice(1) : line)),
    }),
  },
  'no @@ between': {
    several: true,
    chunks: (chunks) => chunks.map((chunk, index) => (index === 0 ? chunk : { ...chunk, anchors: [] })),
  },
  'chunks out of order': { several: true, chunks: (chunks) => chunks.toReversed() },
  'a line of context missing': {
    chunk: (hunk, _, random) => {
      const old = hunk.lines.flatMap((line, index) => (line.startsWith('+') ? [] : [index]))
      const inner = old.slice(1, -1).filter((index) => hunk.lines[index]?.startsWith(' '))
      const left = inner[random(inner.length)]
      return { anchors: ['@@'], lines: hunk.lines.filter((_line, index) => index !== left) }
    },
  },
  'one level less indented': {
    chunk: ({ lines }) => {
      const text = lines.filter((line) => line.trim().length > 1 || !/^[ +-]\s*$/.test(line))
      const level = text.every((line) => line[1] === '\t') ? 1 : text.every((line) => /^. {4}/.test(line)) ? 4 : 0
      if (level === 0) return undefined
      return { anchors: ['@@'], lines: lines.map((line) => (line[0] ?? '') + line.slice(1 + level)) }
    },
  },
  'tabs as spaces': {
    chunk: ({ lines }) => {
      if (!lines.some((line) => line.startsWith('-\t') || line.startsWith(' \t'))) return undefined
      // Then the patch would no longer say which of the lines have tabs.
      if (lines.some((line) => /^.\t* {4}/.test(line))) return undefined
      const spaces = (line: string): string =>
        (line[0] ?? '') + line.slice(1).replace(/^\t+/, (tabs) => '    '.repeat(tabs.length))
      return { anchors: ['@@'], lines: lines.map(spaces) }
    },
  },
  'no end': { mustFail: true, text: (text) => text.replace('*** End Patch\n', '') },
  'a typo in the context': {
    mustFail: true,
    chunk: ({ lines }) => {
      const at = lines.findIndex((line) => /^ .*\w{4}/.test(line))
      if (at === -1) return undefined
      return {
        anchors: ['@@'],
        lines: lines.map((line, index) => (index === at ? line.replace(/\w{4}/, 'qzqzq') : line)),
      }
    },
  },
  'a line of dots': {
    mustFail: true,
    chunk: ({ lines }) => {
      const at = lines.findIndex((line, index) => line.startsWith(' ') && lines[index + 1]?.startsWith(' '))
      if (at === -1) return undefined
      return { anchors: ['@@'], lines: [...lines.slice(0, at), ' // ... existing code ...', ...lines.slice(at + 1)] }
    },
  },
}

/** Writes a commit as a patch. Returns undefined if the mistake can't be made in it. */
export function writePatch({ files }: Commit, writer: Writer, random: (limit: number) => number): string | undefined {
  let isMade = writer.chunk === undefined && writer.several === undefined
  const operations = files.map((file) => {
    const { path, before, after } = file
    const operation = writer.operation ?? ((lines: readonly string[]) => lines)
    if (before === undefined) {
      const added = linesOf(after).map((line) => `+${line}`)
      // Only an update can have the headers of a diff.
      const header = `*** Add File: ${path}`
      return path.length > 0 && writer === mistakes['a/ prefix']
        ? [...operation([header], file), ...added]
        : [header, ...added]
    }
    if (after === undefined) {
      const header = `*** Delete File: ${path}`
      return writer === mistakes['a/ prefix'] ? operation([header], file) : [header]
    }
    const hunks = file.hunks.flatMap((hunk) => withContext(hunk, writer.context ?? 3))
    const chunks = hunks.map((hunk) => {
      const written = (writer.chunk ?? bare)(hunk, file, random)
      if (
        written !== undefined &&
        writer.chunk !== undefined &&
        written.lines.join() + written.anchors.join() !== `${hunk.lines.join()}@@`
      )
        isMade = true
      return written ?? bare(hunk)
    })
    if (writer.several && chunks.length > 1) isMade = true
    const body = (writer.chunks ?? ((all) => all))(chunks).flatMap(({ anchors, lines }) => [...anchors, ...lines])
    return operation([`*** Update File: ${path}`, ...body], file)
  })
  if (!isMade) return undefined
  const text = ['*** Begin Patch', ...operations.flat(), '*** End Patch', ''].join('\n')
  return writer.text?.(text) ?? text
}

/** A hunk with less context: perhaps several hunks. A hunk that only inserts keeps a line, because nothing else says where it belongs. */
function withContext(hunk: Hunk, count: number): readonly Hunk[] {
  if (count === 3) return [hunk]
  const runs = hunk.lines
    .map((line) => line[0])
    .join('')
    .split(' ')
  if (count === 0 && runs.some((run) => run !== '' && !run.includes('-'))) return withContext(hunk, 1)
  const isNear = hunk.lines.map((_, index) =>
    hunk.lines.slice(Math.max(0, index - count), index + count + 1).some((line) => !line.startsWith(' ')),
  )
  const found: { start: number; heading: string; lines: string[] }[] = []
  let number = hunk.start
  for (const [index, line] of hunk.lines.entries()) {
    if (isNear[index]) {
      if (index === 0 || !isNear[index - 1]) found.push({ start: number, heading: hunk.heading, lines: [] })
      found.at(-1)?.lines.push(line)
    }
    if (!line.startsWith('+')) number++
  }
  return found
}

/** The line of the file that git shows, cut off, as a hunk's heading. */
function wholeHeading({ heading, start }: Hunk, { before }: ChangedFile): string | undefined {
  if (heading.trim() === '') return undefined
  const lines = linesOf(before)
  for (let at = Math.min(start - 2, lines.length - 1); at >= 0; at--)
    if (lines[at]?.startsWith(heading)) return lines[at]
  return undefined
}

function linesOf(bytes: Buffer | undefined): readonly string[] {
  if (bytes === undefined || bytes.length === 0) return []
  const text = bytes.toString().replace(/^\uFEFF/, '')
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n').map((line) => line.replace(/\r+$/, ''))
}
