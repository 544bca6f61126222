import { counted } from '../core/text/counted.ts'
import type { Style } from './style.ts'

/** The maximum number of lines of a change that are shown, unless all details are wanted. */
const shownLines = 80

const styles: Readonly<Record<string, 'green' | 'red' | 'cyan'>> = { '+': 'green', '-': 'red', '@': 'cyan' }

/** Formats a unified diff in the usual colours, without its `diff` and `index` lines. A long diff loses its middle, unless in verbose mode. */
export function diffLines(diff: string, { paint, detail }: Style): readonly string[] {
  const lines = diff.trimEnd() === '' ? [] : diff.trimEnd().split('\n')
  let isHeader = true
  const painted = lines.flatMap((line): readonly string[] => {
    if (line.startsWith('diff --git ')) isHeader = true
    if (line.startsWith('@@')) isHeader = false
    if (isHeader) return /^(?:diff|index) /.test(line) ? [] : [`    ${paint('bold', line)}`]
    const style = styles[line.charAt(0)] ?? 'dim'
    return [`    ${paint(style, line)}`]
  })
  if (detail === 'verbose' || painted.length <= shownLines) return painted
  const left = painted.length - shownLines
  const half = shownLines / 2
  return [...painted.slice(0, half), paint('dim', `    … ${counted(left, 'more line')} …`), ...painted.slice(-half)]
}
