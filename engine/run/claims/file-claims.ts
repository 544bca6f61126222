import { changedAbroad } from './changed-abroad.ts'
import { leftByPronoun } from './left-by-pronoun.ts'
import { filesNamedIn, type Named } from './named-paths.ts'
import { isStatement, plainOf, type Sentence } from './sentences.ts'
import * as words from './file-words.ts'

/** A file that a message says was changed. */
type FileClaim = { readonly path: string; readonly text: string }

/** A sentence that names files. */
type Read = {
  readonly sentence: Sentence
  readonly named: readonly Named[]
  /** The plain text of the sentence, with a mark such as `‹0›` in place of each file. */
  readonly marked: string
  /** The numbers of the files that the sentence is about if it is a list item. Empty if it says that they weren't changed, or only explains. */
  readonly leads: readonly number[]
}

const mostClaims = 50

/**
 * Finds the files that a message says were changed, although the record says that they weren't. The record helps to interpret the message: if a list or an
 * enumeration contains changed files, its other files count as claimed, too.
 *
 * @param isChanged whether a file was changed, according to the record
 * @param hasChanges whether any file was changed
 */
export function findFileClaims(
  sentences: readonly Sentence[],
  isChanged: (path: string) => boolean,
  hasChanges = true,
): readonly FileClaim[] {
  const all = sentences.map(read).filter(({ named }) => named.length > 0)
  const namesChanged = ({ named, leads }: Read): boolean => leads.some((at) => isChanged(named[at]?.path ?? ''))
  const lists = new Set(all.filter(namesChanged).map(({ sentence }) => sentence.list))
  const hasLabel = all.some(({ marked, named }) => words.labelled.test(marked) && isChanged(named[0]?.path ?? ''))
  const hasChanged = all.some(({ named }) => named.some(({ path }) => isChanged(path)))
  const left = leftByPronoun(sentences)
  const claims = new Map<string, FileClaim>()
  for (const [index, each] of all.entries()) {
    const { sentence, named, marked } = each
    const last = all[index - 1]
    // Whether this is the second part of a sentence such as "Implemented in a.ts; tests in b.ts."
    const isSequel =
      words.fragment.test(marked) &&
      last?.sentence.text.endsWith(';') === true &&
      last.named.some(({ path }) => isChanged(path) || claims.has(path))
    if (!isStatement(sentence) || claims.size > mostClaims) continue
    const isListed =
      (hasLabel && words.labelled.test(marked)) || saysChanged(sentence, lists) || (lists.size > 0 && isNewItem(each))
    for (const [at, { path }] of named.entries()) {
      if (isChanged(path) || claims.has(path) || left.has(path)) continue
      if (
        isSequel ||
        (isListed && each.leads.includes(at)) ||
        isClaimed(each, at, isChanged) ||
        (!hasChanges && words.foundAndFixed.test(marked.split(`‹${at}›`)[0] ?? '')) ||
        changedAbroad(marked, at, hasChanged, hasChanges)
      )
        claims.set(path, { path, text: sentence.text })
    }
  }
  return [...claims.values()]
}

function read(sentence: Sentence): Read {
  const named = filesNamedIn(sentence.text)
  const marked = withMarks(sentence.text, named)
  return {
    sentence,
    named,
    marked,
    leads:
      words.otherLabel.test(marked) || (words.exemptItem.test(marked) && !words.arrivesAsItem.test(marked))
        ? []
        : leading(marked),
  }
}

/**
 * The plain text with a numbered mark in place of each file's path, so that a dot or a word in a path isn't mistaken for punctuation or a word of
 * the text.
 *
 * @internal
 */
export function withMarks(text: string, named: readonly Named[]): string {
  let marked = ''
  let last = 0
  for (const [at, { from, to }] of named.entries()) {
    marked += `${text.slice(last, from)}‹${at}›`
    last = to
  }
  return plainOf(`${marked}${text.slice(last)}`.replaceAll('`', ' '))
    .replace(/\s+(?=[,.;)])/g, '')
    .replaceAll('( ', '(')
}

/**
 * Returns the files that a list item is about: those at its beginning, those alone in a table cell, and a file after a part of the work, as in
 * "retry logic in a.ts", "migration b.py" and "Docs (a.md)".
 */
function leading(line: string): readonly number[] {
  const marked = line.replace(/^[^\w‹]{1,3} (?=‹)/, '')
  const start =
    /^(?:in |under )?(?:\S{1,20}(?: \S{1,20}){0,2} ?(?::| [–—-]) ?)?(?:‹\d+›(?:[ ,/&]|and)*)+/.exec(marked)?.[0] ?? ''
  const cells = [...marked.matchAll(/(?:^|: )‹(\d+)›(?= :|$)/g)].map(([, digits]) => Number(digits))
  const inOne =
    words.partInside.exec(marked)?.[1] ?? words.partAtEnd.exec(marked)?.[1] ?? words.inBrackets.exec(marked)?.[1]
  return [
    ...[...start.matchAll(/‹(\d+)›/g)].map(([, digits]) => Number(digits)),
    ...cells,
    ...(inOne === undefined ? [] : [Number(inOne)]),
  ]
}

/**
 * Whether a list item says that its file is new, changed or gone, as in "a.ts: new, it does the rest". Such an item is a claim only if some list in
 * the message names changed files.
 */
function isNewItem({ sentence, marked }: Read): boolean {
  return sentence.list !== undefined && !words.notAnnouncing.test(sentence.heading) && words.arrivesAsItem.test(marked)
}

/** Whether a list claims that its files were changed: the line above it says so, or some of its files were changed. */
function saysChanged({ list, heading }: Sentence, changedLists: ReadonlySet<number | undefined>): boolean {
  if (list === undefined || words.notAnnouncing.test(heading)) return false
  return words.announcing.test(heading) || changedLists.has(list)
}

const afterEnd =
  /[;:)—–]|, (?=but|so|which|while|although|though|where|because|and)|\s(?=(?:but|although|though|however|while|whereas|yet|in order|so that)\s)/
const clauseEnd =
  /[;:—–]|, (?=but|so|which|while|although|though|where|because|and)|\s(?=(?:but|although|though|however|while|whereas|yet)\s)|\sand (?=(?:i |i've |then |also |now |have )*(?:\w+ed|put|wrote|made|set|cut|took)\b)/

const documentPath = /\.(?:md|mdx|rst|adoc|txt)$|^(?:change ?log|readme)$/i

function isClaimed({ sentence, named, marked }: Read, at: number, isChanged: (path: string) => boolean): boolean {
  const { heading } = sentence
  const mark = `‹${at}›`
  const isOwn = /\b(?:i|i've|we|we've)\b/.test(marked)
  if (
    words.takenBack.test(marked) ||
    (/^(?:if|once|when|before|until|unless|to |see |compare |refer )/.test(marked) && !isOwn)
  )
    return false
  if ((words.notAnnouncing.test(heading) || words.otherLabel.test(marked)) && !isOwn) return false
  const [before = '', after = ''] = marked.split(mark)
  if (words.exceptFor.test(before)) return true
  const clause = before.split(clauseEnd).at(-1) ?? ''
  if (words.hasNew.test(after)) return true
  if (words.exemptAfter.test((after.split(afterEnd)[0] ?? '').replace(words.stillWell, ''))) return false
  if (words.speaks.test(after) || words.noneNeeded.test(after)) return false
  // In a sentence such as "a.ts leaked it, so I fixed that too", the words after the file claim a change to it.
  if (words.fixedIt.test(after.split('‹')[0] ?? '') && !/test|spec/i.test(named[at]?.path ?? '')) return true
  if (words.exemptBefore.test(clause.replace(words.showing, '')) || isExemptLabel(before)) return false
  if (before === '' && words.labelledDeed.test(after) && !words.exemptItem.test(marked)) return true
  if (words.recordedIn.test(before) && documentPath.test(named[at]?.path ?? '')) return true
  if (words.withEntry.test(before) && /^ (?:entry|note|line|section)\b/.test(after)) return true
  if (words.arriving.test(before) || words.whichI.test(after)) return true
  if (isBesideChanged(marked, at, named, isChanged)) return true
  const direct = before.replace(/(?:‹\d+›(?:,? (?:and|or|as well as|&) |, ?|\/| ))+$/, '')
  if (words.related.test(direct)) return false
  if (words.referring.test(direct) && !isGiven(direct)) return false
  if (words.happens.test(after)) return false
  if (words.followed.test(after) || words.differsNow.test(after)) return true
  if (/^(?:and |also |then |so )?(?:in|to|under|into) (?:the file )?$/.test(clause) && words.doneThere.test(after))
    return true
  if (documentPath.test(named[at]?.path ?? '') && words.documenting.test(before)) return true
  const said = beforeColon(before, after)
  return words.changed.test(said) || words.presentChange.test(said)
}

/** Whether a label says that the file named after it was not changed. "Missing test: added one in a.ts" does claim a change. */
function isExemptLabel(before: string): boolean {
  return words.exemptLabel.test(before) && !words.changed.test(before.split(/ ?: | [–—-] /).at(-1) ?? '')
}

/**
 * Returns the words before a file that may say what happened to it. Text before a colon applies to the files after the colon, unless the file is the subject of
 * a new statement, as in "Done: a.ts is small".
 */
function beforeColon(before: string, after: string): string {
  const at = Math.max(before.lastIndexOf(': '), before.lastIndexOf('; '))
  const last = before.slice(at + 1)
  if (at >= 0 && /^ (?:is|are|was|were|has|had|can|will|\w+s)\b/.test(after)) return last
  return at < 0 || /^(?: ?‹\d+›,?(?: and| or)?| (?:in|the|both))* ?$/.test(last) ? before : last
}

/**
 * Whether the words before a file mean that something was taken out of it, as in "removed it from a.ts" and "struck it out of a.ts", but not in "read it from
 * a.ts".
 */
function isGiven(before: string): boolean {
  return /\b(?:from|out of|off) (?:the )?(?:file )?$/.test(before) && words.takingFrom.test(before)
}

/** Whether a file is named together with a changed file, as in "a.ts and b.ts" or "a.ts, b.ts". What is said about one applies to the other. */
function isBesideChanged(
  marked: string,
  at: number,
  named: readonly Named[],
  isChanged: (path: string) => boolean,
): boolean {
  return [...marked.matchAll(words.chain)].some(([whole]) => {
    const members = [...whole.matchAll(/‹(\d+)›/g)].map(([, digits]) => Number(digits))
    return members.includes(at) && members.some((each) => isChanged(named[each]?.path ?? ''))
  })
}
