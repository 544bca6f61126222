/**
 * Explains why an awk program might do more than print; undefined if it certainly doesn't (gawk(1), POSIX awk). Words that run commands, write or read other
 * files, or show the environment are refused anywhere, even inside a string. The program isn't understood if a slash could begin a regular expression in one
 * awk and mean division in another.
 */
export function findAwkEffect(program: string): string | undefined {
  const word = /\b(?:system|getline|ENVIRON|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO|extension|load)\b|@|\/inet/.exec(program)
  if (word !== null) return `${word[0]} may run commands, or may read or show more than the input`
  if (program.includes('\\\n') || /[\r\0]/.test(program)) return 'a continued line'
  return findOperator(program)
}

const space = /[ \t]+|#[^\n]*/y
const token =
  /"(?:[^"\\\n]|\\[^\n])*"|[A-Za-z_]\w*|[0-9]+(?:\.[0-9]*)?|\.[0-9]+|&&|\|\||[=!<>+\-*%^]=|\+\+|--|!~|>>|[^]/y
/** Matches a regular expression in an awk program if its bracket expressions end at the same place in every awk. */
const expression =
  /\/(?:[^/\\\n[\]"]|\\[^\n\w[\]"]|\\[bBdDsSwWy]|\[\^?(?:\[:[a-z]+:\]|[^^[\]\\/\n"]|\\[ts])(?:\[:[a-z]+:\]|[^[\]\\/\n"]|\\[ts])*\])*\//y
/** Tokens that end a value. A slash after one of them means division. */
const operand = /^(?:"|[0-9.]|\]|\$)/
/** Tokens after which a line feed doesn't end a statement. */
const goesOn = /^(?:,|&&|\|\||[?:{]|do|else)$/
const keywords =
  /^(?:print|printf|return|in|else|do|if|while|for|case|switch|delete|exit|function|func|getline|BEGIN|END|length)$/

/** Finds pipes and redirections among the operators of an awk program. */
function findOperator(program: string): string | undefined {
  let at = 0
  let before: 'start' | 'value' | 'unclear' = 'start'
  let depth = 0
  let printing: number | undefined
  let last = ''
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(program)?.[0]
  }
  while (at < program.length) {
    const blank = match(space)
    if (blank !== undefined) {
      at += blank.length
      continue
    }
    if (program[at] === '/') {
      if (before === 'unclear') return 'only some versions of awk read a slash as division here'
      const found = before === 'start' ? match(expression) : '/'
      if (found === undefined) return 'a regular expression is not understood'
      at += found.length
      before = before === 'start' ? 'value' : 'start'
      if (before === 'start' && program[at] === '=') return 'only some versions of awk read a slash as division here'
      continue
    }
    const found = match(token) ?? ''
    at += found.length
    if (found === '"') return 'a string is not closed'
    if (found === '|' || found === '`') return 'a pipe runs a command'
    if (/^[^\x20-\x7e\n\t"]/.test(found)) return 'there is a control or non-ASCII character outside a string'
    if (found === '(' || found === '[') depth++
    if (found === ')' || found === ']') depth--
    if (found === ';' || found === '}' || (found === '\n' && !goesOn.test(last))) printing = undefined
    if (found !== '\n') last = found
    if (found === 'print' || found === 'printf') printing = depth
    if (found === '>' && printing !== undefined && depth <= printing) return 'print > writes a file'
    if (found === '>>') return 'print >> writes a file'
    if (found === 'length') before = 'unclear'
    else if (operand.test(found) || (/^[A-Za-z_]/.test(found) && !keywords.test(found))) before = 'value'
    // After `if (…)` a slash begins a regular expression, but after `(a + b)` it means division, so its meaning after a parenthesis is unclear.
    else before = /^(?:\)|\+\+|--|\})$/.test(found) ? 'unclear' : 'start'
  }
  return undefined
}
