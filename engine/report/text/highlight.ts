import common from 'highlight.js/lib/common'

/** A piece of code, and its scope as highlight.js names it: `keyword`, `string`, `title.function`. */
export type CodePiece = { readonly scope: string; readonly text: string }

type Node = { readonly scope?: string; readonly children: readonly (Node | string)[] }

const byExtension: Readonly<Record<string, string>> = {
  ...{ cjs: 'javascript', mjs: 'javascript', js: 'javascript', jsx: 'javascript', ts: 'typescript', tsx: 'typescript' },
  ...{
    mts: 'typescript',
    cts: 'typescript',
    py: 'python',
    rb: 'ruby',
    rs: 'rust',
    kt: 'kotlin',
    sh: 'bash',
    bash: 'bash',
  },
  ...{ yml: 'yaml', yaml: 'yaml', json: 'json', md: 'markdown', html: 'xml', xml: 'xml', css: 'css', scss: 'scss' },
  ...{
    go: 'go',
    java: 'java',
    c: 'c',
    h: 'c',
    cpp: 'cpp',
    hpp: 'cpp',
    cs: 'csharp',
    php: 'php',
    sql: 'sql',
    swift: 'swift',
  },
  ...{ lua: 'lua', pl: 'perl', r: 'r', toml: 'ini', ini: 'ini', less: 'less', mk: 'makefile', graphql: 'graphql' },
}

/** The maximum number of characters of code that are coloured on one page, so that readers don't have to wait. */
const mostCoded = 250_000

/** Creates the syntax highlighter for one page. */
export function createHighlighter(): (code: string, language: string | undefined) => readonly CodePiece[] {
  let left = mostCoded
  return (code, language) => {
    const plain = [{ scope: '', text: code }]
    if (language === undefined || code.length > left || common.getLanguage(language) === undefined) return plain
    left -= code.length
    try {
      // `_emitter` contains the syntax tree from which highlight.js makes its HTML. We use the tree, because we make our own HTML.
      const { _emitter: emitter } = common.highlight(code, { language, ignoreIllegals: true })
      const { rootNode } = emitter as unknown as { readonly rootNode: Node }
      return flat(rootNode, '')
    } catch {
      return plain
    }
  }
}

/** Guesses the language of a file from its name. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (name === 'makefile') return 'makefile'
  return byExtension[name.slice(name.lastIndexOf('.') + 1)]
}

function flat(node: Node, scope: string): readonly CodePiece[] {
  return node.children.flatMap((child) =>
    typeof child === 'string' ? [{ scope, text: child }] : flat(child, child.scope ?? scope),
  )
}
