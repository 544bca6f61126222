import type { DiffFile, DiffLine } from './parse-diff.ts'

/** The maximum length of a change in the review's prompt, in characters. */
const mostCharacters = 300_000
/** The maximum length of a line, in characters. Longer lines are cut off; nobody writes them by hand. */
const longestLine = 1000

/** A change as the model sees it. */
type ShownChange = {
  readonly text: string
  /** Files that are named but not shown, because the change is too long. */
  readonly notShown: readonly string[]
}

/**
 * Renders a change as text for the model. Each line is shown with its number in the file, so that findings can name the line. If the change is too long, whole
 * files are left out.
 */
export function showChange(files: readonly DiffFile[]): ShownChange {
  const shown: string[] = []
  const notShown: string[] = []
  let room = mostCharacters
  for (const file of files) {
    const text = showFile(file)
    if (text.length > room) {
      notShown.push(file.path)
      continue
    }
    room -= text.length
    shown.push(text)
  }
  return { text: shown.join('\n'), notShown }
}

const kinds = { add: 'new file', delete: 'deleted file', update: 'changed file' } as const

function showFile({ path, kind, hunks }: DiffFile): string {
  const head = `### ${kinds[kind]}: ${path}`
  if (hunks.length === 0) return `${head}\n(only its name or mode changed, or it is a binary file)\n`
  const body = hunks.map(({ heading, lines }) => [`@@ ${heading}`, ...lines.map((line) => showLine(line, kind))])
  return `${[head, ...body.flat()].join('\n')}\n`
}

function showLine({ mark, text, oldLine, newLine }: DiffLine, kind: DiffFile['kind']): string {
  const number = kind === 'delete' ? String(oldLine) : mark === '-' ? '' : String(newLine)
  const cut = text.length > longestLine ? `${text.slice(0, longestLine)} […]` : text
  return `${number.padStart(6)} ${mark}${cut}`
}
