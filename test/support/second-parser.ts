import { fileOfPackage, importOfPackage, whyNotInstalled } from './doors.ts'

/** What is used of a node of web-tree-sitter. */
type Node = {
  readonly type: string
  readonly text: string
  readonly startIndex: number
  readonly hasError: boolean
  readonly namedChildren: readonly (Node | null)[]
  child(index: number): Node | null
  namedChild(index: number): Node | null
  descendantsOfType(types: readonly string[]): readonly (Node | null)[]
}
type TreeSitter = {
  readonly Parser: {
    init(): Promise<void>
    new (): {
      setLanguage(language: unknown): void
      parse(text: string): { readonly rootNode: Node; delete(): void } | null
    }
  }
  readonly Language: { load(path: string): Promise<unknown> }
}

/** A word as the second parser reads it: its text, or undefined if that is known only at run time. */
export type ReadWord = string | undefined

/** The second parser's findings in a shell text. */
export type SecondReading = {
  readonly commands: readonly (readonly ReadWord[])[]
  /** The positions at which command and process substitutions begin. `redirections` is the number of redirections, including heredocs. */
  readonly substitutions: readonly number[]
  readonly redirections: number
}

/** Parses a shell text. Returns undefined if the second parser can't parse it. */
export type ReadCommands = (text: string) => SecondReading | undefined

/** Why there is no second parser here; undefined if there is one. */
export function whyNoSecondParser(): string | undefined {
  return whyNotInstalled('web-tree-sitter', 'tree-sitter-bash')
}

/** Loads tree-sitter's Bash grammar, which is independent of the parser that the product uses. */
export async function startSecondParser(): Promise<ReadCommands> {
  const { Parser, Language } = await importOfPackage<TreeSitter>('web-tree-sitter/web-tree-sitter.js')
  await Parser.init()
  const parser = new Parser()
  parser.setLanguage(await Language.load(fileOfPackage('tree-sitter-bash/tree-sitter-bash.wasm')))
  return (text) => {
    const tree = parser.parse(text)
    if (tree === null || tree.rootNode.hasError) return undefined
    const commands = ['command', 'declaration_command', 'unset_command', 'test_command']
    const found = tree.rootNode.descendantsOfType(commands).flatMap((node) => (node === null ? [] : readCommand(node)))
    const all = (...types: string[]): readonly Node[] =>
      tree.rootNode.descendantsOfType(types).filter((node) => node !== null)
    const substitutions = all('command_substitution', 'process_substitution').map(({ startIndex }) => startIndex)
    const redirections = all('file_redirect', 'heredoc_redirect', 'herestring_redirect').length
    tree.delete()
    return { commands: found, substitutions: substitutions.toSorted((a, b) => a - b), redirections }
  }
}

function readCommand(node: Node): readonly (readonly ReadWord[])[] {
  if (node.type === 'test_command')
    return node.text.startsWith('[[') || node.text.startsWith('((') ? [] : [['[', undefined]]
  if (node.type !== 'command') return [[node.child(0)?.text, undefined]]
  const parts = node.namedChildren.filter((child) => child !== null)
  const words = parts
    .filter(({ type }) => !/^(?:variable_assignment|file_redirect|heredoc_redirect|herestring_redirect)$/.test(type))
    .map((child) => readWord(child.type === 'command_name' ? (child.namedChild(0) ?? child) : child))
  if (words[0] !== 'time') return words.length === 0 ? [] : [words]
  // This grammar treats the keyword `time` as a program, and what follows as its arguments.
  const begin = words.findIndex((word, at) => at > 0 && (word === undefined || !/^(?:-p$|\w+=)/.test(word)))
  return begin < 0 ? [] : [words.slice(begin)]
}

/** The text of a word without its quotes. */
function readWord(node: Node): ReadWord {
  switch (node.type) {
    case 'word':
    case 'number':
      return /[{}]/.test(node.text) ? undefined : node.text.replace(/\\\n/g, '').replace(/\\(.)/g, '$1')
    case 'raw_string':
      return node.text.slice(1, -1)
    case 'string': {
      const plain = node.namedChildren.every((child) => child?.type === 'string_content')
      const text = node.text
        .slice(1, -1)
        .replace(/\\(\n|["\\$`])/g, (_, escaped: string) => (escaped === '\n' ? '' : escaped))
      return plain ? text : undefined
    }
    case 'concatenation': {
      // Plain text between parts is not a named child, so the pieces must add up to the whole word.
      const parts = node.namedChildren.filter((child) => child !== null)
      const texts = parts.map(readWord)
      const whole = parts.reduce((length, part) => length + part.text.length, 0) === node.text.length
      return whole && texts.every((text) => text !== undefined) ? texts.join('') : undefined
    }
    default:
      return undefined
  }
}
