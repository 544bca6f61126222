import { languageOf } from '../text/highlight.ts'
import { html, joined, type Html } from './html.ts'
import type { Rich } from './rich-text.ts'
import { counted } from '../../core/text/counted.ts'

/** The maximum number of lines that are shown of one diff. Nobody reads more on a page. */
const mostLines = 3000
/** The maximum length of a line that is coloured, in characters. Longer lines are usually generated. */
const longestColoured = 400
/**
 * The line feed at the end of each line. Without it, a page whose styles are blocked, for example by Jenkins' content security policy, would show all lines as
 * one. With the page's own style, each line is a box, and the line feed takes no space.
 */
const lineEnd = '\n'

/** Renders a unified diff. Consecutive removed and added lines form a block, in which CSS can show the removed lines beside the added ones. */
export function renderDiff(diff: string, path: string, rich: Rich): Html {
  const lines = diff.split('\n')
  const language = languageOf(path)
  const blocks: Html[] = []
  let block: Html[] = []
  let [before, after] = [0, 0]
  let isHeader = true
  const close = (): void => {
    if (block.length > 0) blocks.push(html`<span class="b">${block}</span>`)
    block = []
  }
  for (const line of lines.slice(0, mostLines)) {
    const hunk = /^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})/.exec(line)
    if (hunk !== null) {
      close()
      isHeader = false
      ;[before, after] = [Number(hunk[1]), Number(hunk[2])]
      blocks.push(html`<span class="l at">${line}${lineEnd}</span>`)
    } else if (isHeader) {
      continue
    } else if (line.startsWith('-')) {
      block.push(row('d', before++, line))
    } else if (line.startsWith('+')) {
      block.push(row('a', after++, line))
    } else {
      close()
      const isText = line.startsWith(' ') || line === ''
      blocks.push(isText ? row('c', after, line) : html`<span class="l at">${line}${lineEnd}</span>`)
      if (isText) [before, after] = [before + 1, after + 1]
    }
  }
  close()
  const more = lines.length - mostLines
  return html`<pre class="diff">
${joined(blocks)}${more > 0 && html`<span class="l at">${counted(more, 'more line')}</span>`}</pre>`

  function row(kind: 'a' | 'd' | 'c', number: number, line: string): Html {
    const text = line.slice(1)
    const code = text.length > longestColoured ? html`${text}` : rich.code(text, language)
    const mark = kind === 'a' ? '+' : kind === 'd' ? '-' : ' '
    return html`<span class="l ${kind}"
      ><span class="n">${String(number).padStart(5)} </span><code>${mark}${code}</code>${lineEnd}</span
    >`
  }
}
