import { expect, test } from 'vitest'
import { code, imports, sources } from './sources.ts'

const report = sources('engine/report')
const maker = 'engine/report/html/html.ts'

/** Returns the text of a source file without its `html` templates. The expressions inside the templates are kept. */
function outsideTemplates(text: string): string {
  let kept = ''
  // The enclosing templates: whether each makes HTML, and how many braces are open in its current expression.
  const stack: { readonly isHtml: boolean; braces: number }[] = []
  let isTemplate = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    const top = stack.at(-1)
    if (isTemplate && character === '\\') at++
    else if (isTemplate && character === '`') {
      stack.pop()
      isTemplate = false
    } else if (isTemplate && text.startsWith('${', at)) {
      isTemplate = false
      at++
    } else if (isTemplate) {
      if (top?.isHtml !== true) kept += character
    } else if (character === '`') {
      stack.push({ isHtml: text.slice(0, at).endsWith('html'), braces: 0 })
      isTemplate = true
    } else if (top !== undefined && character === '{') top.braces++
    else if (top !== undefined && character === '}' && top.braces-- === 0) {
      top.braces = 0
      isTemplate = true
    } else kept += character
  }
  return kept
}

test('everything in a page is made by the one template that escapes', () => {
  const markup = report
    .filter((file) => file !== maker)
    .flatMap((file) =>
      /<\/?[a-z!]+[\s>/]|&(?:lt|gt|amp|quot|#)/.test(stringsOf(outsideTemplates(code(file)))) ? [file] : [],
    )
  // These two files don't create HTML pages: one writes JUnit's XML, which a test parses, and the other escapes the two characters that begin raw
  // HTML in Markdown.
  expect(markup).toEqual(['engine/report/machines/run-junit.ts', 'engine/report/markdown/escape.ts'])
})

test('the only text that is not escaped is the page’s own style and script', () => {
  const users = report.filter((file) =>
    imports(file).some(({ target, names }) => target === maker && names.includes('ownElement')),
  )
  expect(users).toEqual(['engine/report/html/document.ts'])
  expect(code('engine/report/html/document.ts').match(/ownElement\(/g)).toHaveLength(2)
  expect(report.filter((file) => /new Html\(/.test(code(file)))).toEqual([maker])
})

test('no element of the page has a style, a handler or a source', () => {
  const wrong = report.filter((file) => /\s(?:style|on[a-z]+|src|srcset|action|formaction)="/.test(code(file)))
  expect(wrong).toEqual([])
})

test('markup outside the template would be found', () => {
  const sample = 'const a = html`<b>${list.map((x) => html`<i>${x}</i>`)}</b>` + "<u>"; const b = `<s>${a}</s>`'
  expect(stringsOf(outsideTemplates(sample))).toMatch(/<u>.*<s>/)
  expect(stringsOf(outsideTemplates(sample))).not.toMatch(/<[bi]>/)
})

/** Removes the type arguments of generics, because their angle brackets look like markup. */
function stringsOf(text: string): string {
  return text.replace(
    /\b(?:Map|Set|Record|Readonly|ReadonlySet|ReadonlyMap|Writable|Partial|Promise|Omit|Pick|Extract|ReturnType)<[^;=(]*>/g,
    '',
  )
}
