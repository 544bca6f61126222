import MarkdownIt, { type Token } from 'markdown-it'

/** A parsed piece of Markdown. Syntax that this type can't represent stays text. */
export type MarkdownNode =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'break' | 'rule' }
  | { readonly type: 'code'; readonly text: string; readonly block: boolean; readonly language: string }
  /** A link. `target` is its address; undefined if that isn't an http, https or mailto address. */
  | { readonly type: 'link'; readonly target: string | undefined; readonly children: readonly MarkdownNode[] }
  | { readonly type: MarkdownElement; readonly level?: number; readonly children: readonly MarkdownNode[] }

type MarkdownElement =
  | 'paragraph'
  | 'heading'
  | 'strong'
  | 'emphasis'
  | 'deleted'
  | 'quote'
  | 'list'
  | 'ordered'
  | 'item'
  | 'table'
  | 'head'
  | 'body'
  | 'row'
  | 'header'
  | 'cell'

const elements: Readonly<Record<string, MarkdownElement>> = {
  ...{
    paragraph: 'paragraph',
    heading: 'heading',
    strong: 'strong',
    em: 'emphasis',
    s: 'deleted',
    blockquote: 'quote',
  },
  ...{ bullet_list: 'list', ordered_list: 'ordered', list_item: 'item', table: 'table', thead: 'head', tbody: 'body' },
  ...{ tr: 'row', th: 'header', td: 'cell' },
}

/** The maximum length of a text that is parsed, in characters. Parsing longer texts would take too long. */
const longest = 200_000

let parser: ReturnType<typeof MarkdownIt> | undefined

/** Parses Markdown. Raw HTML stays text. A picture becomes its description and address. */
export function parseMarkdown(text: string): readonly MarkdownNode[] {
  if (text.length > longest) return [{ type: 'code', text, block: true, language: '' }]
  if (parser === undefined) {
    parser = new MarkdownIt({ html: false, linkify: false, typographer: false, maxNesting: 20 })
    // The parser accepts every link, because `safeTarget` checks the targets. If the parser rejected a link, the text of the link would be lost.
    parser.validateLink = () => true
  }
  return nodesOf(parser.parse(text, {}))
}

function nodesOf(tokens: readonly Token[]): readonly MarkdownNode[] {
  const root: MarkdownNode[] = []
  const stack: MarkdownNode[][] = [root]
  for (const token of tokens) {
    const into = stack.at(-1) ?? root
    if (token.nesting === 1) {
      const children: MarkdownNode[] = []
      into.push(opened(token, children))
      stack.push(children)
    } else if (token.nesting === -1) {
      if (stack.length > 1) stack.pop()
    } else {
      into.push(...leaf(token))
    }
  }
  return root
}

function opened(token: Token, children: readonly MarkdownNode[]): MarkdownNode {
  const name = token.type.replace(/_open$/, '')
  if (name === 'link') return { type: 'link', target: safeTarget(String(token.attrGet('href') ?? '')), children }
  const type = elements[name] ?? 'paragraph'
  return type === 'heading' ? { type, level: Number(token.tag.slice(1)), children } : { type, children }
}

function leaf(token: Token): readonly MarkdownNode[] {
  switch (token.type) {
    case 'inline':
      return nodesOf(token.children ?? [])
    case 'code_inline':
      return [{ type: 'code', text: token.content, block: false, language: '' }]
    case 'fence':
    case 'code_block':
      return [{ type: 'code', text: token.content, block: true, language: token.info.trim().split(' ', 1)[0] ?? '' }]
    case 'softbreak':
      return [{ type: 'text', text: '\n' }]
    case 'hardbreak':
      return [{ type: 'break' }]
    case 'hr':
      return [{ type: 'rule' }]
    case 'image':
      return [{ type: 'text', text: `[picture: ${token.content} ${token.attrGet('src') ?? ''}]` }]
    default:
      return [{ type: 'text', text: token.content }]
  }
}

/** The target of a link, if it is a complete http, https or mailto address of reasonable length without white space or control characters. */
function safeTarget(href: string): string | undefined {
  // Browsers ignore tabs and line breaks in an address, so these characters could disguise a dangerous scheme.
  if (!/^(?:https?:\/\/|mailto:)[^\s\u0000-\u001f\u007f]+$/i.test(href) || href.length > 2000) return undefined
  return href
}
