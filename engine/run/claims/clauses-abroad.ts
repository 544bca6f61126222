import { german, romance } from './clause-words.ts'
import { pattern } from './word-patterns.ts'

/** A clause of a sentence, and whether it continues what the writer said about their own actions in the clause before it. */
type Clause = { readonly text: string; readonly goesOn: boolean; readonly isFirst: boolean }

/**
 * Whether a clause of a sentence says, in German, French, Spanish, Portuguese or Italian, that the run changed a file. A clause may continue the one before it:
 * in "habe ich ‹0› angepasst und die Anleitung in ‹1› ergänzt", the second clause says what "ich" did.
 *
 * @param plain the plain text with marks such as `‹0›` in place of files
 * @param at the number of the file's mark
 * @param namesChanged whether the message names a file that was changed. If it names none, a passive may describe what somebody else did
 *
 * @internal
 */
export function changedInClause(plain: string, at: number, namesChanged: boolean): boolean {
  // "La documentación (‹0›) se ha actualizado" and "dans ‹0›, j'ai ajouté" are one clause each.
  const marked = plain.replace(/\((‹\d+›(?:, ‹\d+›)*)\)/g, '$1').replace(romance.afterFile, '$1 ')
  const mark = `‹${at}›`
  if (namesChanged && itemSays(marked, mark)) return true
  const said = (clauses: readonly Clause[], says: typeof saysInGerman): boolean =>
    clauses.some((clause) => clause.text.includes(mark) && says(clause, mark, namesChanged && !isCause.test(marked)))
  return (
    (german.may.test(marked) && said(germanClauses(marked), saysInGerman)) ||
    (romance.may.test(marked) && said(romanceClauses(marked), saysInRomance))
  )
}

/** Whether a sentence has the form of a list item, "‹0› : zwei Fälle ergänzt", and says that something was changed in the file named first. */
function itemSays(marked: string, mark: string): boolean {
  const [before, after = ''] = marked.split(mark)
  if (before !== '' || !/^ ?:/.test(after) || german.denied.test(after) || romance.denied.test(after)) return false
  return german.item.test(after) || romance.item.test(after)
}

/** Words that follow a passive and make it the reason for another change: "In ‹0› wurde das Feld umbenannt, daher habe ich ‹1› angepasst." */
const isCause = pattern(
  String.raw`(?<!\p{L})(?:daher|deshalb|deswegen|darum|weshalb|weswegen|c'est pourquoi|par conséquent|du coup|por eso|por lo que|así que|por isso|então|perciò|quindi|pertanto)(?!\p{L})`,
  'u',
)

function germanClauses(marked: string): readonly Clause[] {
  const clauses: Clause[] = []
  let text = ''
  let goesOn = false
  const parts = marked.split(german.joint)
  for (const [at, part] of parts.entries()) {
    // The parts at odd positions are the words or marks between clauses. In an enumeration, they don't separate clauses:
    // "habe ich ‹0› und die Anleitung in ‹1› angepasst".
    if (at % 2 === 0) text += part
    else if (
      (part === ' und ' && text.endsWith('›') && /^(?:in )?‹/.test(parts[at + 1] ?? '')) ||
      (/^(?: und | sowie |, )$/.test(part) && german.own.test(text) && !german.finished.test(text))
    )
      text += part
    else {
      clauses.push({ text, goesOn, isFirst: clauses.length === 0 })
      goesOn = / und | sowie |, /.test(part) && (german.own.test(text) || german.ownVerb.test(text) || goesOn)
      text = ''
    }
  }
  return [...clauses, { text, goesOn, isFirst: clauses.length === 0 }]
}

function saysInGerman({ text, goesOn }: Clause, mark: string, namesChanged: boolean): boolean {
  const [before = '', after = ''] = text.split(mark)
  if (german.aside.test(text) || german.denied.test(text) || german.refers.test(before)) return false
  const isOwn = german.own.test(text)
  if (isOwn && (german.done.test(after) || german.doneFirst.test(before))) return true
  if (german.ownVerb.test(before) || (goesOn && german.verbFirst.test(before))) return true
  if (goesOn && !german.finite.test(text)) return german.done.test(after)
  if (!namesChanged || isOwn) return false
  if (german.newIn.test(before)) return true
  return (
    !german.endsAside.test(text) &&
    (german.passive.test(text) ? german.deed.test(after) : german.state.test(after) && !german.refersNoun.test(before))
  )
}

function romanceClauses(marked: string): readonly Clause[] {
  let goesOn = false
  return marked.split(romance.joint).map((text, at) => {
    const clause = { text, goesOn, isFirst: at === 0 }
    goesOn =
      romance.own.test(text) ||
      romance.ownVerb.test(text) ||
      ((romance.first.test(text) || romance.noun.test(text)) && (goesOn || at === 0))
    return clause
  })
}

function saysInRomance({ text, goesOn, isFirst }: Clause, mark: string, namesChanged: boolean): boolean {
  const [before = '', after = ''] = text.split(mark)
  if (romance.aside.test(text) || romance.denied.test(text)) return false
  if (namesChanged && romance.passiveAfter.test(after) && !romance.relative.test(before)) return true
  if (romance.beginsIn.test(before) && romance.thereI.test(after)) return true
  const verb =
    romance.own.exec(before) ??
    romance.ownVerb.exec(before) ??
    (goesOn ? (romance.noun.exec(before) ?? romance.first.exec(before)) : null) ??
    (namesChanged ? romance.passive.exec(before) : null) ??
    (namesChanged && (isFirst || goesOn) ? (romance.noun.exec(before) ?? romance.first.exec(before)) : null) ??
    (namesChanged ? romance.newIn.exec(before) : null)
  if (verb === null) return false
  const between = before.slice(verb.index + verb[0].length)
  return !romance.relative.test(between) && (!romance.refers.test(before) || romance.partOfIt.test(between))
}
