/**
 * Why an awk program might do more than print, or undefined if it surely doesn't (gawk(1), POSIX awk). Words that
 * run, write, read other files or show the environment are refused wherever they stand, even inside a string, since
 * where a regular expression ends is something awks disagree about.
 */
export function findAwkEffect(program: string): string | undefined {
  const word = /\b(?:system|getline|ENVIRON|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO|extension|load)\b|@|\/inet/.exec(
    program.replaceAll('\\\n', ''),
  )
  if (word !== null) return `${word[0]} may run, read or show more than its input`
  return findOperator(program)
}

/** Pipes and redirections among the operators of a program. */
function findOperator(program: string): string | undefined {
  let at = 0
  let value = false
  let depth = 0
  let printing: number | undefined
  while (at < program.length) {
    const rest = program.slice(at)
    const space = /^(?:[ \t\r]|\\\n|#[^\n]*)+/.exec(rest)
    if (space !== null) {
      at += space[0].length
      continue
    }
    const token =
      /^(?:"(?:[^"\\\n]|\\[^])*"|[A-Za-z_]\w*|[0-9.]+|&&|\|\||[=!<>+\-*/%^]=|\+\+|--|!~|\*\*|[^])/.exec(rest)?.[0] ?? ''
    if (token === '"') return 'a string has no end'
    if ((token === '/' || token === '/=') && !value) {
      const expression = /^\/(?:[^/\\\n[]|\\[^\n]|\[\]?[^\]\n/]*\])*\//.exec(rest)?.[0]
      if (expression === undefined) return 'a regular expression is not understood'
      at += expression.length
      value = true
      continue
    }
    at += token.length
    if (token === '|' || token === '`') return 'a pipe runs a command'
    if (token === '(' || token === '[') depth++
    if (token === ')' || token === ']') depth--
    if (token === ';' || token === '}') printing = undefined
    if (token === 'print' || token === 'printf') printing = depth
    if (token === '>' && printing !== undefined && depth <= printing) return 'print > writes a file'
    if (token === '>>') return 'print >> writes a file'
    value =
      /^(?:"|[0-9.]|\)|\]|\$|\+\+|--)/.test(token) ||
      (/^[A-Za-z_]/.test(token) && !/^(?:print|printf|return|in|else|do|if|while|for|case|delete|exit)$/.test(token))
  }
  return undefined
}
