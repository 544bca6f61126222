/** The text of one test: the lines before it that mark it, the line with its name, and the lines in it, all without indentation. */
type TestText = { readonly head: string; readonly body: string }

/**
 * Finds the text of a test by its name: as a string, or as the name of a function. What is in the test is what is indented more than the line with its
 * name, which holds for formatted code in all languages whose tests have results here.
 *
 * @returns undefined if the file doesn't contain the name, as with tests that a loop makes
 */
export function textOfTest(file: string, name: string): TestText | undefined {
  const lines = file.split('\n')
  const at = lines.findIndex((line) => isNamedIn(line, name))
  const first = lines[at]
  if (first === undefined) return undefined
  const depth = indentOf(first)
  const marks: string[] = []
  for (let before = at - 1; before >= 0; before--) {
    const line = lines[before] ?? ''
    if (indentOf(line) !== depth || !isMark(line)) break
    marks.unshift(line.trim())
  }
  const inside: string[] = []
  for (const line of lines.slice(at + 1)) {
    if (line.trim() === '') continue
    if (indentOf(line) <= depth) break
    inside.push(line.trim())
  }
  return { head: [...marks, first.trim()].join('\n'), body: inside.join('\n') }
}

/** A text without what formatters change: white space, the kind of quotes, and what may end a line or a list. */
export function withoutLayout(text: string): string {
  return text
    .replaceAll(/[\s;]/g, '')
    .replaceAll(/["`]/g, "'")
    .replaceAll(/,(?=[)\]}])/g, '')
}

/**
 * Whether a test differs from another only by names in the place of values, which are elsewhere in its file.
 *
 * @param now the other test
 * @param file the text of its file
 */
export function isCaseOf(old: string, now: string, file: string): boolean {
  const [before, after] = [old, now].map((text) => text.match(tokens) ?? [])
  if (before === undefined || before.length === 0 || before.length !== after?.length) return false
  return before.every((token, at) => {
    const other = after[at] ?? ''
    return token === other || (/^["'`\d]/.test(token) && /^[A-Za-z_$]/.test(other) && file.includes(token))
  })
}

const tokens = /"[^"\n]*"|'[^'\n]*'|`[^`]*`|[\w$.]+|[^\s\w]/g

/** Whether a test checks less than before. Where nothing in it is known to check something, statements that compare do. */
export function checksLess(before: TestText, after: TestText): boolean {
  const [old, now] = [before, after].map(({ head, body }) => `${head}\n${body}`)
  const checks = countChecks(old ?? '')
  return checks > 0 ? countChecks(now ?? '') < checks : countComparisons(now ?? '') < countComparisons(old ?? '')
}

/** How many characters are looked at before and after a word. */
const longest = 2000

/** How often a text checks something: by assertions and expectations, apart from those of nothing but constants, and by failures. */
export function countChecks(text: string): number {
  const code = codeOf(text)
  return [...code.matchAll(/\w+/g)].filter(({ 0: word, index }) => {
    const isFailure = failing.test(word)
    if (!isFailure && !checking.test(word)) return false
    const before = code.slice(Math.max(0, index - longest), index)
    const after = code.slice(index + word.length, index + longest).replace(/^!/, '')
    const [receiver = ''] = before.split(/[^\w$.]/).slice(-1)
    if (isFailure)
      return receiver.length > 1 && before.split('\n').at(-1)?.trimStart() === receiver && after.startsWith('(')
    const ends = word === 'assert' ? '(. ' : word === 'require' ? '.' : '(.'
    return ends.includes(after[0] ?? '\n') && (isOfValue(receiver) || isOfValue(operandOf(after)))
  }).length
}

/** The words with which assertions and expectations begin, and the names of what makes a test fail. */
const checking = /[Aa]ssert|[Ee]xpect(?:[^e]|$)|[Ss]hould|^(?:raises|warns|require)$/
const failing = /^(?:Error|Fatal|[Ff]ail)/

/** What follows a word, up to the end of the line in which all brackets are closed. */
function operandOf(text: string): string {
  let depth = 0
  for (let end = 0; end < text.length; end++) {
    if ('([{'.includes(text[end] ?? '')) depth++
    else if (')]}'.includes(text[end] ?? '')) depth--
    if (depth < 0 || (depth === 0 && text[end] === '\n')) return text.slice(0, end)
  }
  // What is cut may go on with anything.
  return depth > 0 ? `${text} etc` : text
}

/** Whether something is named that isn't always the same. What stands before a member and isn't named is the result of a call. */
function isOfValue(expression: string): boolean {
  const names = expression.replaceAll(/\.\w+/g, '').match(/[A-Za-z_$][\w$]*/g)
  return expression === '.' || (names ?? []).some((name) => !constant.test(name))
}

const constant = /^(?:true|false|null|nil|None|undefined|is|not|in|and|or|self|this|t)$/i

/** How many statements are calls of something with several arguments, as what expects and what is compared with it. */
function countComparisons(text: string): number {
  const lines = codeOf(text).split('\n')
  return lines.filter((line, at) => {
    if (!/^(?:await )?[\w$.]+!?\(/.test(line.trimStart())) return false
    const rest = lines.slice(at, at + 20).join('\n')
    const operand = operandOf(rest.slice(line.indexOf('('))).trimEnd()
    return operand.includes(',') && /\);?$/.test(operand)
  }).length
}

/** A text without marks such as decorators, comments, and what is in strings. */
function codeOf(text: string): string {
  return text
    .split(/"""|'''/)
    .filter((_, at) => at % 2 === 0)
    .join("''")
    .split('\n')
    .filter((line) => !isMark(line) && !/^\s*(?:\/\/|\/?\*|#)/.test(line))
    .map((line) => line.replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, "''").split(/\s(?:\/\/|#)\s/)[0])
    .join('\n')
}

function isMark(line: string): boolean {
  return /^\s*(?:@|#\[)/.test(line)
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

function isNamedIn(line: string, name: string): boolean {
  if (["'", '"', '`'].some((quote) => line.includes(`${quote}${name}${quote}`))) return true
  for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + 1)) {
    const isStart = /^\s*(?:async )?(?:def|func|fn|pub fn|async fn) $/.test(line.slice(0, at))
    if (isStart && /^\s*[(<]/.test(line.slice(at + name.length))) return true
  }
  return false
}
