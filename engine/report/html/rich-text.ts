import { createHighlighter, languageOf, type CodePiece } from '../text/highlight.ts'
import { parseMarkdown, type MarkdownNode } from '../text/parse-markdown.ts'
import { html, joined, type Html } from './html.ts'

/** Turns the texts of one page into elements. */
export type Rich = {
  readonly markdown: (text: string) => Html
  readonly code: (text: string, language: string | undefined) => Html
}

/** Creates the functions that render the texts of one page. The limit for coloured code applies to the whole page. */
export function createRich(): Rich {
  const highlight = createHighlighter()
  const code = (text: string, language: string | undefined): Html => joined(highlight(text, language).map(codePiece))
  return {
    code,
    markdown: (text) => html`<div class="md">${parseMarkdown(text).map((node) => markdownNode(node, code))}</div>`,
  }
}

/** Renders a piece of code in the colour of its scope. The scopes are those of highlight.js. */
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

/** The types of nodes that have children and no other content. */
type PlainNode = Exclude<Extract<MarkdownNode, { readonly level?: number }>['type'], 'heading' | 'link'>

const plain: Readonly<Record<PlainNode, (inner: Html) => Html>> = {
  paragraph: (inner) => html`<p>${inner}</p>`,
  strong: (inner) => html`<strong>${inner}</strong>`,
  emphasis: (inner) => html`<em>${inner}</em>`,
  deleted: (inner) => html`<del>${inner}</del>`,
  quote: (inner) => html`<blockquote>${inner}</blockquote>`,
  list: (inner) =>
    html`<ul>
      ${inner}
    </ul>`,
  ordered: (inner) =>
    html`<ol>
      ${inner}
    </ol>`,
  item: (inner) => html`<li>${inner}</li>`,
  table: (inner) =>
    html`<div class="wide">
      <table>
        ${inner}
      </table>
    </div>`,
  head: (inner) =>
    html`<thead>
      ${inner}
    </thead>`,
  body: (inner) =>
    html`<tbody>
      ${inner}
    </tbody>`,
  row: (inner) =>
    html`<tr>
      ${inner}
    </tr>`,
  header: (inner) => html`<th>${inner}</th>`,
  cell: (inner) => html`<td>${inner}</td>`,
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
    case 'heading':
      // A heading in a message doesn't become an HTML heading, so that the page's outline contains only the page's own headings.
      return html`<p class="h h${Math.min(6, node.level ?? 1)}">${inner(node.children)}</p>`
    default:
      return plain[node.type](inner(node.children))
  }
}

/** Renders a link. If its text differs from its target, the target is shown too, because the text may be untrusted and misleading. */
function link(target: string | undefined, words: Html): Html {
  if (target === undefined) return html`${words}`
  const shown =
    words.toString() === html`${target}`.toString() ? undefined : html` <span class="target">(${target})</span>`
  return html`<a href="${target}" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer">${words}</a>${shown}`
}
