import { createHighlighter, languageOf, type CodePiece } from '../text/highlight.ts'
import { parseMarkdown, type MarkdownNode } from '../text/markdown.ts'
import { html, joined, type Html } from './html.ts'

/** Turns the texts of one page into elements. */
export type Rich = {
  readonly markdown: (text: string) => Html
  readonly code: (text: string, language: string | undefined) => Html
}

/** Makes it: how much is coloured is counted for the whole page. */
export function createRich(): Rich {
  const highlight = createHighlighter()
  const code = (text: string, language: string | undefined): Html => joined(highlight(text, language).map(codePiece))
  return {
    code,
    markdown: (text) => html`<div class="md">${parseMarkdown(text).map((node) => markdownNode(node, code))}</div>`,
  }
}

/** A piece of code in its colour. The scopes are the library's own words. */
function codePiece({ scope, text }: CodePiece): Html {
  const colour = colourOf(scope)
  return colour === undefined ? html`${text}` : html`<span class="${colour}">${text}</span>`
}

const colours: readonly (readonly [prefix: string, colour: string])[] = [
  ['comment', 'hc'],
  ['quote', 'hc'],
  ['string', 'hs'],
  ['regexp', 'hs'],
  ['number', 'hn'],
  ['literal', 'hn'],
  ['keyword', 'hk'],
  ['built_in', 'hb'],
  ['type', 'hb'],
  ['title', 'ht'],
  ['attr', 'ha'],
  ['property', 'ha'],
  ['variable', 'ha'],
  ['meta', 'hc'],
  ['tag', 'hk'],
  ['name', 'hk'],
  ['section', 'ht'],
]

function colourOf(scope: string): string | undefined {
  return scope === '' ? undefined : colours.find(([prefix]) => scope.startsWith(prefix))?.[1]
}

function markdownNode(node: MarkdownNode, code: Rich['code']): Html {
  const inner = (children: readonly MarkdownNode[]): Html => joined(children.map((child) => markdownNode(child, code)))
  switch (node.type) {
    case 'text':
      return html`${node.text}`
    case 'break':
      return html`<br />`
    case 'rule':
      return html`<hr />`
    case 'code':
      return node.block
        ? html`<pre><code>${code(node.text, languageOf(`x.${node.language}`) ?? node.language)}</code></pre>`
        : html`<code>${node.text}</code>`
    case 'link':
      return link(node.target, inner(node.children))
    case 'paragraph':
      return html`<p>${inner(node.children)}</p>`
    case 'heading':
      // The page's own headings are above these.
      return html`<p class="h h${Math.min(6, node.level ?? 1)}">${inner(node.children)}</p>`
    case 'strong':
      return html`<strong>${inner(node.children)}</strong>`
    case 'emphasis':
      return html`<em>${inner(node.children)}</em>`
    case 'deleted':
      return html`<del>${inner(node.children)}</del>`
    case 'quote':
      return html`<blockquote>${inner(node.children)}</blockquote>`
    case 'list':
      return html`<ul>
        ${inner(node.children)}
      </ul>`
    case 'ordered':
      return html`<ol>
        ${inner(node.children)}
      </ol>`
    case 'item':
      return html`<li>${inner(node.children)}</li>`
    case 'table':
      return html`<div class="wide">
        <table>
          ${inner(node.children)}
        </table>
      </div>`
    case 'head':
      return html`<thead>
        ${inner(node.children)}
      </thead>`
    case 'body':
      return html`<tbody>
        ${inner(node.children)}
      </tbody>`
    case 'row':
      return html`<tr>
        ${inner(node.children)}
      </tr>`
    case 'header':
      return html`<th>${inner(node.children)}</th>`
    case 'cell':
      return html`<td>${inner(node.children)}</td>`
    default:
      return node satisfies never
  }
}

/** A link shows its target: its text may be untrusted and misleading. */
function link(target: string | undefined, words: Html): Html {
  if (target === undefined) return html`${words}`
  const shown =
    words.toString() === html`${target}`.toString() ? undefined : html` <span class="target">(${target})</span>`
  return html`<a href="${target}" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer">${words}</a>${shown}`
}
