import { isPath } from './named-paths.ts'
import { commandAlone, shownRun } from './shown-runs.ts'
import { pattern } from './word-patterns.ts'

/** A sentence of a final message, a row of a table, or an item of a list. */
export type Sentence = {
  /** The sentence as written, without bullets and other marks at the beginning of its line. */
  readonly text: string
  /** The sentence in lower case, on one line, with plain punctuation. The word patterns are matched against it. */
  readonly plain: string
  /** The parts between commas, colons, brackets and conjunctions: a negative word in one part doesn't affect the next. */
  readonly clauses: readonly string[]
  /** The heading above the sentence, or the line above it that ends with a colon; `''` if there is none. */
  readonly heading: string
  /** If the sentence begins an item of a list or a row of a table, the number of that list or table; otherwise undefined. */
  readonly list: number | undefined
  /** Whether the sentence is in an unchecked item of a task list. */
  readonly isOpen: boolean
  /** Whether the sentence is in a checked item of a task list, or in a line that begins with a tick. */
  readonly isTicked: boolean
}

/** The limit for a message, in characters. Only the beginning and the end of a longer one are read, because long documents report their results there. */
const longestMessage = 64 * 1024
const longestLine = 4096
const longestSentence = 600

/**
 * The marks at the beginning of a list item: bullets, numbers, ticks, crosses, emoji, arrows, the bar before a table cell, or the status letters
 * that `git status` prints.
 */
const itemMark = /^(?:[-*+•|→➜➤▸‣·]|\d{1,3}[.)]|[AMDR]{1,2}(?= +\S+$)|\p{Extended_Pictographic}\uFE0F?|[✓✗✔✘☑])\s*/u
/** Words before a quotation of somebody else's words, or of a text that the run worked on. */
const quoting = pattern(
  String.raw`\b(?:wrote|writes|guide|description|log|issue|ticket|readme|docs?|comment|author|report|agent|message|you said|upgrade|says that|claims|claimed|asked|suggested|sentences?|lines?|badge|phrase|paragraph|title|heading|label|button|text|wording|string|caption|reading|called|titled|named|tell me|just say|say|reply|answer|prompt|asks?|ask for|you wanted|replaced|instead of|banner|note|option|checkbox|word|words|step|entry|item|bullet|section|template|status|by)\b[^"“„«]{0,60}$`,
)
/** Words before a quotation of what a program printed. */
const printing = pattern(
  String.raw`\b(?:prints?|printed|shows?|showed|says|said|output|summary|result|with|error|errors|answers?|answered) ?[:,]? ?$`,
)

const sentenceEnd = /(?<=[.!?;…]["')]?)(?<!\b(?:i\.e|e\.g|etc|vs|cf|no)\.)\s/i

/**
 * Splits a message into sentences. Quotations of other texts are left out, and so are code blocks, except for file names and successful test runs in
 * them.
 */
export function sentencesOf(message: string): readonly Sentence[] {
  const found: Sentence[] = []
  let fence: string | undefined
  let opening = ''
  let block: string[] = []
  let above = ''
  let alone: string | undefined
  let heading = ''
  let list = 0
  let inList = false
  const add = (line: string, isItem: boolean): void => {
    const isOpen = /^\[ ?\]/.test(line)
    const isTicked = /^(?:\[x\]|[✅✓✔☑])/iu.test(line)
    const text = line.replace(/^\[[ x]?\] ?/i, '').replaceAll('**', '')
    const parts = text.split(sentenceEnd)
    for (const [at, part] of parts.filter((each) => each.trim() !== '').entries())
      found.push({ ...sentenceOf(part.trim()), heading, list: isItem && at === 0 ? list : undefined, isOpen, isTicked })
  }
  for (const raw of firstAndLast(message).split('\n')) {
    const line = withoutQuotations(raw.trim().slice(0, longestLine)).replace(/ ?\.{4,}:? */g, ': ')
    if (/^(?:```|~~~)/.test(line)) {
      fence = fence === undefined ? line.slice(0, 3) : undefined
      if (fence !== undefined) {
        list++
        opening = line
        block = []
        continue
      }
      const shown = shownRun(opening, block, above)
      if (shown !== undefined) found.push(shownSentence(shown))
      alone = commandAlone(block)
      continue
    }
    if (fence !== undefined) {
      block.push(line)
      if (isPath(line.replace(itemMark, ''))) add(line.replace(itemMark, ''), true)
      continue
    }
    if (line === '' || line.startsWith('>') || /^[|:\s=-]+$/.test(line)) {
      // An empty line doesn't end a list, because there may be empty lines between its items. A quotation ends it.
      if (line.startsWith('>')) inList = false
      continue
    }
    above = line
    const marked = itemMark.exec(line)?.[0]
    const bare = marked === undefined ? line : line.slice(marked.length)
    const isItem =
      marked !== undefined ||
      /^\S+ *\| *\d/.test(line) ||
      /^[a-z]+(?: [a-z]+)?\.{4,}/i.test(raw.trim()) ||
      beginsWithFile(line)
    if (isItem && !inList) list++
    inList = isItem
    if (isHeading(line) && (!isItem || line.startsWith('|') === false)) heading = plainOf(lastOf(bare))
    else if (!isItem) heading = heading !== '' && raw.startsWith(' ') ? heading : ''
    // A tick or cross before a sentence is part of the sentence's meaning, so it isn't removed.
    const whole = /^\p{Extended_Pictographic}|^[✓✗✔✘☑]/u.test(marked ?? '') ? line : bare
    // "```mix test``` ran through" is one sentence, in which the command is in a block of code.
    add(alone !== undefined && /^\p{Ll}/u.test(whole) ? `\`${alone}\` ${whole}` : whole, isItem)
    alone = undefined
  }
  return found
}

/** Whether a line has the form "a.ts: what was done", "a.ts – what was done" or "a.ts (what was done)", or consists of a path alone. */
function beginsWithFile(line: string): boolean {
  const [, first = ''] = /^`?([^\s`:(]+)`?\s*(?:[:(–—]|$)/.exec(line) ?? []
  return isPath(first)
}

function firstAndLast(message: string): string {
  if (message.length <= longestMessage) return message
  return `${message.slice(0, longestMessage / 2)}\n${message.slice(-longestMessage / 2)}`
}

/** Removes quotations of other people or documents from a line: `the log says "all tests pass"`. */
function withoutQuotations(line: string): string {
  return line.replace(/["“„«]([^"“”„«»]{3,300})["“”»]/g, (whole, inner: string, at: number) => {
    const before = line.slice(Math.max(0, at - 100), at).toLowerCase()
    const isSentence = inner.trim().split(' ').length > 2 && at > 0 && !printing.test(before)
    return isSentence || quoting.test(before) ? '""' : whole
  })
}

/** Whether a sentence states something: it is neither a question nor an unchecked item of a task list. */
export function isStatement({ plain, isOpen }: Sentence): boolean {
  return !isOpen && !plain.endsWith('?')
}

/** Returns the sentence that takes the place of a code block if the block shows a successful test run. */
function shownSentence(text: string): Sentence {
  const plain = 'all tests passed'
  return { text, plain, clauses: [plain], heading: '', list: undefined, isOpen: false, isTicked: false }
}

function sentenceOf(part: string): Pick<Sentence, 'text' | 'plain' | 'clauses'> {
  const text = part.slice(0, longestSentence)
  const plain = plainOf(text)
  return { text, plain, clauses: clausesOf(plain) }
}

/**
 * Converts text to the form that the word patterns expect: lower case, straight apostrophes, no markup, colons instead of arrows, bars and rows of
 * dots.
 */
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

/**
 * The words of a text in lower case, with one space around each, for finding the names of programs in it. The name of a file is one word, so `a.php` doesn't
 * name the program `php`, but `./gradlew` names `gradlew`.
 */
export function spacedWords(text: string): string {
  const words = text.toLowerCase().split(/[\s`'"(),;|]+/)
  return ` ${words.map((word) => word.replace(/^\.\//, '').replace(/[.:!?]$/, '')).join(' ')} `
}

const joints =
  /\s*(?:[,;()—–]|:(?=\s|$)|(?<=\s)-(?=\s))\s*|\s(?=(?:and|but|so|although|though|however|while|whereas|yet)\s)/

/** Splits a plain sentence into its parts at conjunctions, and at commas, semicolons, colons, brackets and dashes. */
export function clausesOf(plain: string): readonly string[] {
  return plain.split(joints).filter((clause) => clause !== '')
}

/** The last sentence of a line: "Thanks for the review. What I changed:" announces changes, and not a review. */
function lastOf(line: string): string {
  return line.split(sentenceEnd).at(-1) ?? line
}

function isHeading(line: string): boolean {
  return line.startsWith('#') || /:(?:\*\*)?$/.test(line) || /^\*\*[^*]+\*\*:?$/.test(line)
}
