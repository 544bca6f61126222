/** The text of one test: the lines before it that mark it, the line with its name, and the lines in it, all without indentation. */
type TestText = { readonly head: string; readonly body: string }

/**
 * Finds the text of a test by its name: as a string, or as the name of a function. What is in the test is what is indented more than the line with its
 * name, which holds for formatted code in all languages whose tests have results here.
 *
 * @returns undefined if the file doesn't contain the name, as with tests that a loop makes
 */
export function textOfTest(file: string, name: string): TestText | undefined {
  const lines = file.split('\n')
  const at = lines.findIndex((line) => isNamedIn(line, name))
  const first = lines[at]
  if (first === undefined) return undefined
  const depth = indentOf(first)
  const marks: string[] = []
  for (let before = at - 1; before >= 0; before--) {
    const line = lines[before] ?? ''
    if (indentOf(line) !== depth || !isMark(line)) break
    marks.unshift(line.trim())
  }
  const inside: string[] = []
  for (const line of lines.slice(at + 1)) {
    if (line.trim() === '') continue
    if (indentOf(line) <= depth) break
    inside.push(line.trim())
  }
  return { head: [...marks, first.trim()].join('\n'), body: inside.join('\n') }
}

/** A text without what formatters change: white space, the kind of quotes, and what may end a line or a list. */
export function withoutLayout(text: string): string {
  return text
    .replaceAll(/[\s;]/g, '')
    .replaceAll(/["`]/g, "'")
    .replaceAll(/,(?=[)\]}])/g, '')
}

/** How many calls a text makes. Those in marks, such as decorators, check nothing. */
export function countCalls(text: string): number {
  return (
    text
      .split('\n')
      .filter((line) => !isMark(line))
      .join('\n')
      .match(/\w!?\(/g)?.length ?? 0
  )
}

function isMark(line: string): boolean {
  return /^\s*(?:@|#\[)/.test(line)
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

function isNamedIn(line: string, name: string): boolean {
  if (["'", '"', '`'].some((quote) => line.includes(`${quote}${name}${quote}`))) return true
  for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + 1)) {
    const isStart = /^\s*(?:async )?(?:def|func|fn|pub fn|async fn) $/.test(line.slice(0, at))
    if (isStart && /^\s*[(<]/.test(line.slice(at + name.length))) return true
  }
  return false
}
