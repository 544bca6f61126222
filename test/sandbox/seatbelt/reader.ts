/** An s-expression: a list, an atom, or a string, which is tagged so that it is never taken for an atom. */
export type Expression = string | { readonly text: string } | readonly Expression[]

/** Reads all expressions of a profile: lists, words, `"…"` strings, and `#"…"` strings without escapes. Skips `;` comments. Throws for all else. */
export function readExpressions(source: string): readonly Expression[] {
  const token = /\s+|;[^\n]*|([()])|#"([^"]*)"|"((?:[^"\\]|\\.)*)"|([^\s()";#]+)/y
  const stack: Expression[][] = [[]]
  const add = (expression: Expression): void => void stack.at(-1)?.push(expression)
  while (token.lastIndex < source.length) {
    const at = token.lastIndex
    const match = token.exec(source)
    if (match === null) throw new Error(`not an s-expression at ${at}: ${source.slice(at, at + 40)}`)
    const [, bracket, raw, quoted, atom] = match
    if (bracket === '(') stack.push([])
    else if (bracket === ')') {
      const list = stack.pop()
      if (list === undefined || stack.length === 0) throw new Error('a bracket too many')
      add(list)
    } else if (raw !== undefined) add({ text: raw })
    else if (quoted !== undefined) add({ text: quoted.replace(/\\(.)/g, '$1') })
    else if (atom !== undefined) add(atom)
  }
  const [top] = stack
  if (stack.length !== 1 || top === undefined) throw new Error('a bracket is not closed')
  return top
}
