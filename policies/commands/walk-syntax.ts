import type { Coverage } from './coverage.ts'
import type { CommandNode, CompoundList, WordPart } from './shell-syntax.ts'

/** Records in `coverage` the reserved words, operators and names that belong to a compound command. */
export function expectSyntax(node: CommandNode | CompoundList, source: string, coverage: Coverage): void {
  switch (node.type) {
    case 'If':
      coverage.expect('if', 'then', 'fi', ...(node.else === undefined ? [] : ['else']))
      return coverage.expect(...node.elif.flatMap(() => ['elif', 'then']))
    case 'While':
      return coverage.expect(node.kind, 'do', 'done')
    case 'For':
    case 'Select':
      coverage.claim('word', node.name)
      coverage.expect(node.type === 'For' ? 'for' : 'select', ...(node.wordlist === undefined ? [] : ['in']))
      return expectBody(node.body, source, coverage)
    case 'ArithmeticFor': {
      coverage.expect('for')
      const pos = source.indexOf('((', node.pos)
      const end = source.indexOf('))', pos) + 2
      if (pos >= 0 && end > pos) coverage.claim('arithmetic', { pos, end })
      return expectBody(node.body, source, coverage)
    }
    case 'Case':
      coverage.expect('case', 'in', 'esac')
      for (const { pattern, terminator } of node.items) {
        coverage.expect(')', ...pattern.slice(1).map(() => '|'))
        if (terminator !== undefined) coverage.expect(terminator)
      }
      return
    case 'Subshell':
      return coverage.expect('(', ')')
    case 'BraceGroup':
      return coverage.expect('{', '}')
    case 'Function':
      return coverage.claim('word', node.name)
    case 'TestCommand':
      return coverage.expect('[[', ']]')
    case 'ArithmeticCommand':
      return coverage.claim('arithmetic', node)
    case 'Command':
    case 'Redirected':
    case 'Coproc':
    case 'CompoundList':
      return
    default:
      return node satisfies never
  }
}

/** Records in `coverage` the words around a loop's commands: `do` and `done`, or braces. */
function expectBody({ pos }: CompoundList, source: string, coverage: Coverage): void {
  const isBraced = source.charAt(pos - 1) === '{' || source.charAt(pos) === '{'
  coverage.expect(...(isBraced ? ['{', '}'] : ['do', 'done']))
}

/** Whether a part of a word is only text, quoted or not. Such a part is the same whatever the values of variables are. */
export function isQuoting(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every(isQuoting)
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted'
}
