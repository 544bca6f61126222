import { isPath } from './named-paths.ts'
import { pattern } from './word-patterns.ts'

/** A sentence of a final message, a row of a table, or an item of a list. */
export type Sentence = {
  /** The sentence as written, without the marks of its line. */
  readonly text: string
  /** In lower case, on one line of plain signs: what the tables of words are compared with. */
  readonly plain: string
  /** The parts between commas, colons, brackets and conjunctions: a denial in one doesn't reach into the next. */
  readonly clauses: readonly string[]
  /** The heading, or the line with a colon, above it; `''` for none. */
  readonly heading: string
  /** The list or table that it is an item of, by number; undefined outside one. */
  readonly list: number | undefined
  /** It is an open box of a list of tasks. */
  readonly isOpen: boolean
}

/** The longest part of a message that is read: a longer one is a document, which reports its results at the beginning or the end. */
const longestMessage = 64 * 1024
const longestLine = 4096
const longestSentence = 600

/** What a line begins with that is an item: bullets, numbers, ticks, arrows, a cell, the letters of `git status`, dots up to a colon. */
const itemMark = /^(?:[-*+•|→➜➤▸‣·]|\d{1,3}[.)]|[AMDR]{1,2}(?= +\S+$)|\p{Extended_Pictographic}\uFE0F?|[✓✗✔✘☑])\s*/u
/** Words before a quotation that is somebody else's, or a text that the run worked on. */
const quoting = pattern(
  String.raw`\b(?:wrote|writes|guide|description|log|issue|ticket|readme|docs?|comment|author|report|agent|message|you said|upgrade|says that|claims|claimed|asked|suggested|sentences?|lines?|badge|phrase|paragraph|title|heading|label|button|text|wording|string|caption|reading|called|titled|named|tell me|just say|say|reply|answer|prompt|asks?|ask for|you wanted|replaced|instead of|banner|note|option|checkbox|word|words|step|entry|item|bullet|section|template|status|by)\b[^"“„«]{0,60}$`,
)
/** Words before one that is what a run printed. */
const printing = pattern(
  String.raw`\b(?:prints?|printed|shows?|showed|says|said|output|summary|result|with|error|errors|answers?|answered) ?[:,]? ?$`,
)

/** The sentences of a message. Code blocks make no claims and are left out, unless they only list files; so are quotations of others. */
export function sentencesOf(message: string): readonly Sentence[] {
  const found: Sentence[] = []
  let fence: string | undefined
  let heading = ''
  let list = 0
  let inList = false
  const add = (line: string, isItem: boolean): void => {
    const isOpen = /^\[ ?\]/.test(line)
    const text = line.replace(/^\[[ x]?\] ?/i, '').replaceAll('**', '')
    const parts = text.split(/(?<=[.!?;…]["')]?)(?<!\b(?:i\.e|e\.g|etc|vs|cf|no)\.)\s/i)
    for (const [at, part] of parts.filter((each) => each.trim() !== '').entries())
      found.push({ ...sentenceOf(part.trim()), heading, list: isItem && at === 0 ? list : undefined, isOpen })
  }
  for (const raw of firstAndLast(message).split('\n')) {
    const line = withoutQuotations(raw.trim().slice(0, longestLine)).replace(/ ?\.{4,}:? */g, ': ')
    if (/^(?:```|~~~)/.test(line)) {
      fence = fence === undefined ? line.slice(0, 3) : undefined
      if (fence !== undefined) list++
      continue
    }
    if (fence !== undefined) {
      if (isPath(line.replace(itemMark, ''))) add(line.replace(itemMark, ''), true)
      continue
    }
    if (line === '' || line.startsWith('>') || /^[|:\s=-]+$/.test(line)) {
      // A list may have empty lines between its items.
      if (line.startsWith('>')) inList = false
      continue
    }
    const marked = itemMark.exec(line)?.[0]
    const bare = marked === undefined ? line : line.slice(marked.length)
    const isItem =
      marked !== undefined ||
      /^\S+ *\| *\d/.test(line) ||
      /^[a-z]+(?: [a-z]+)?\.{4,}/i.test(raw.trim()) ||
      beginsWithFile(line)
    if (isItem && !inList) list++
    inList = isItem
    if (isHeading(line) && (!isItem || line.startsWith('|') === false)) heading = plainOf(bare)
    else if (!isItem) heading = heading !== '' && raw.startsWith(' ') ? heading : ''
    // A tick or cross before a sentence is part of what it says.
    add(/^\p{Extended_Pictographic}|^[✓✗✔✘☑]/u.test(marked ?? '') ? line : bare, isItem)
  }
  return found
}

/** "a.ts: what was done", "a.ts (what was done)", or nothing but the file. */
function beginsWithFile(line: string): boolean {
  const [, first = ''] = /^`?([^\s`:(]+)`?\s*(?:[:(–—]|$)/.exec(line) ?? []
  return isPath(first)
}

function firstAndLast(message: string): string {
  if (message.length <= longestMessage) return message
  return `${message.slice(0, longestMessage / 2)}\n${message.slice(-longestMessage / 2)}`
}

/** Takes out what the message quotes as the text of others or of a document: `the log says "all tests pass"`. */
function withoutQuotations(line: string): string {
  return line.replace(/["“„«]([^"“”„«»]{3,300})["“”»]/g, (whole, inner: string, at: number) => {
    const before = line.slice(Math.max(0, at - 100), at).toLowerCase()
    const isSentence = inner.trim().split(' ').length > 2 && at > 0 && !printing.test(before)
    return isSentence || quoting.test(before) ? '"…"' : whole
  })
}

function sentenceOf(part: string): Pick<Sentence, 'text' | 'plain' | 'clauses'> {
  const text = part.slice(0, longestSentence)
  const plain = plainOf(text)
  return { text, plain, clauses: clausesOf(plain) }
}

/** Text as the tables of words have it: lower case, straight apostrophes, no backticks, arrows and bars as colons. */
export function plainOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll('`', '')
    .replace(/\s*(?:→|➜|⇒|=>|->|\|)\s*/g, ' : ')
    .replace(/\.{4,}:?|…/g, ' : ')
    .replace(/[_*]{1,2}(?=\s|$)|(?<=^|\s)[_*]{1,2}/g, '')
    .replace(/\s+/g, ' ')
    .replace(/^#+ /, '')
    .trim()
}

const joints =
  /\s*(?:[,;()—–]|:(?=\s|$)|(?<=\s)-(?=\s))\s*|\s(?=(?:and|but|so|although|though|however|while|whereas|yet)\s)/

/** The parts of a plain sentence. */
export function clausesOf(plain: string): readonly string[] {
  return plain.split(joints).filter((clause) => clause !== '')
}

function isHeading(line: string): boolean {
  return line.startsWith('#') || /:(?:\*\*)?$/.test(line) || /^\*\*[^*]+\*\*:?$/.test(line)
}
