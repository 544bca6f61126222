import { harmlessLine } from '../core/text/harmless.ts'
import { hunksOf, withHunks } from '../../apply-patch/index.ts'
import type { AskPerson } from '../approvals/ask-at-terminal.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import { largestInPatch, renderPatch, sizeOf, type RunChange } from '../transaction/change-record.ts'
import { keepBytes, keptBytes } from '../transaction/kept-files.ts'

/** The possible answers to the question of whether to take a part of a change. The letters are those of `git add -p`. */
const answers = {
  y: 'take this',
  n: "don't take this",
  q: 'quit: take neither this nor any later part',
  a: 'take this and all later parts of this file',
  d: 'take neither this nor any later part of this file',
  '?': 'show this help',
} as const

type Answer = Exclude<keyof typeof answers, '?'>

/** A part of a change that can only be accepted as a whole. */
type Part = {
  /** The name of this part in the question to the person. */
  readonly what: string
  readonly text: string
  readonly kind:
    { readonly type: 'whole' } | { readonly type: 'mode' } | { readonly type: 'hunk'; readonly index: number }
}

/**
 * Asks a person about each change and returns the accepted changes. If a change can be shown as hunks of text, the person is asked about each hunk,
 * and about a change of the file's mode, and the returned change contains only the accepted parts. The end of input counts as `q`.
 *
 * @param directory the session's directory, which contains the bytes of the files
 */
export async function pickChanges(
  changes: readonly RunChange[],
  directory: LockedFolder,
  ask: AskPerson,
  write: (text: string) => void,
): Promise<readonly RunChange[]> {
  const picked: RunChange[] = []
  for (const change of changes) {
    const parts = partsOf(change, directory)
    write(headOf(change, directory))
    const taken = new Set<Part>()
    let rest: 'y' | 'n' | undefined
    let ended = false
    for (const [index, part] of parts.entries()) {
      if (rest === undefined) write(part.text)
      const answer = rest ?? (await answerTo(part, change, `(${index + 1}/${parts.length})`, ask))
      if (answer === 'y' || answer === 'a') taken.add(part)
      if (answer === 'a') rest = 'y'
      if (answer === 'd' || answer === 'q') rest = 'n'
      ended ||= answer === 'q'
    }
    const made = madeOf(change, parts, taken, directory)
    if (made !== undefined) picked.push(made)
    if (ended) break
  }
  return picked
}

async function answerTo(part: Part, { path }: RunChange, place: string, ask: AskPerson): Promise<Answer> {
  const name = harmlessLine(path)
  const question = `${place} Apply ${part.what} ${part.kind.type === 'whole' ? 'of' : 'to'} ${name} [y,n,q,a,d,?]? `
  const help = Object.entries(answers).map(([letter, words]) => `${letter} - ${words}\n`)
  const read = (line: string): Answer | undefined => {
    const letter = line.trim().toLowerCase()
    return letter in answers && letter !== '?' ? (letter as Answer) : undefined
  }
  return (await ask({ text: question, prompt: `${help.join('')}${question}`, read }, undefined)) ?? 'q'
}

/** The part of a change's patch that precedes its first hunk. */
function headOf(change: RunChange, directory: string): string {
  const [head = ''] = renderPatch(directory, [change]).split(/^(?:@@ |GIT binary patch)/m)
  return head === '' ? `${change.path}\n` : head
}

/** The parts of a change, in the order in which the user is asked about them. */
function partsOf(change: RunChange, directory: string): readonly Part[] {
  const { before, after } = change
  const isShown = Math.max(sizeOf(before), sizeOf(after)) <= largestInPatch
  if (isShown && before.type === 'file' && after.type === 'file' && before.hash !== null && after.hash !== null) {
    const hunks = hunksOf(keptBytes(directory, before.hash), keptBytes(directory, after.hash))
    const mode: readonly Part[] =
      before.mode === after.mode ? [] : [{ what: 'this mode change', text: '', kind: { type: 'mode' } }]
    if (hunks !== undefined) {
      return [
        ...mode,
        ...hunks.map(({ text }, index): Part => ({ what: 'this hunk', text, kind: { type: 'hunk', index } })),
      ]
    }
  }
  const what = before.type === 'absent' ? 'the addition' : after.type === 'absent' ? 'the deletion' : 'the change'
  return [{ what, text: isShown ? wholeText(change, directory) : '', kind: { type: 'whole' } }]
}

function wholeText({ before, after }: RunChange, directory: string): string {
  const text = (side: RunChange['before']): Buffer =>
    side.type === 'file' && side.hash !== null ? keptBytes(directory, side.hash) : Buffer.alloc(0)
  if (before.type === 'directory' || after.type === 'directory') return ''
  const hunks = hunksOf(text(before), text(after))
  return hunks?.map((hunk) => hunk.text).join('') ?? '(no text)\n'
}

/** Returns the change with only the accepted parts; undefined if no part was accepted. */
function madeOf(
  change: RunChange,
  parts: readonly Part[],
  taken: ReadonlySet<Part>,
  directory: LockedFolder,
): RunChange | undefined {
  const { before, after } = change
  if (taken.size === 0) return undefined
  if (taken.size === parts.length || before.type !== 'file' || after.type !== 'file') return change
  if (before.hash === null || after.hash === null) return change
  const hunks = new Set([...taken].flatMap(({ kind }) => (kind.type === 'hunk' ? [kind.index] : [])))
  const isModeTaken = [...taken].some(({ kind }) => kind.type === 'mode')
  const bytes = withHunks(keptBytes(directory, before.hash), keptBytes(directory, after.hash), hunks)
  const mode = isModeTaken ? after.mode : before.mode
  const { modified: _, ...rest } = change
  return { ...rest, after: { type: 'file', mode, size: bytes.length, hash: keepBytes(directory, bytes) } }
}
