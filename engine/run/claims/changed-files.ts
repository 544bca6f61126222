import { isPath, type Sentence } from './sentences.ts'

/** A file that a sentence names as changed. */
type NamedFile = { readonly path: string; /** It is named as removed, or as moved away. */ readonly gone: boolean }

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

/** Verbs of somebody who has changed a file; never an imperative or a plan. */
const changing = set(
  `updated changed modified edited created added wrote rewrote deleted removed renamed refactored patched moved replaced adjusted extended introduced
   corrected fixed mended repaired cleaned reworked simplified migrated`,
)
const removing = set('deleted removed renamed moved migrated')
const repairing = set('fixed mended repaired corrected')
/** What follows these words is a reason, a source or a purpose, and not a changed file. */
const aside = set(
  `from using via with like as because for so that which where since while by import imports importing reference call of after when matching between
   based per against than instead under about whose if`,
)
/** They may take "to" before what was changed: "added a check to a.ts". */
const givingTo = set('added moved renamed introduced wrote migrated')
const hedges = set(
  `should would could will shall may might must can need needs not never without unable if cannot plan going didn't don't doesn't haven't hasn't couldn't
   can't won't wasn't isn't weren't aren't nothing no neither nor`,
)
const linking = set("was were is are has have been being now also all both it's since")
/** It may describe history, unless it is in the first person. */
const history = set(
  'commit diff pr pull branch previously already before upstream author release earlier last ago originally when somebody someone',
)
const firstPerson = set("i i've i'm we we've my our")
const farthest = 12

/**
 * The files that a sentence claims were changed: as the object of "changed" and similar verbs, as the subject of "was changed", or in a
 * list below "Files changed:".
 */
export function findChangedFiles({ clauses, words, listedAsChanged }: Sentence): readonly NamedFile[] {
  const found: NamedFile[] = []
  if (words.some((word) => history.has(word)) && !words.some((word) => firstPerson.has(word))) return []
  const [first = ''] = words
  if (listedAsChanged && isPath(first)) found.push({ path: first, gone: words.some((word) => removing.has(word)) })
  // A list continues after commas: "Changed a.ts, b.ts and c.ts".
  let goesOn: string | undefined
  for (const clause of clauses) {
    found.push(...passives(clause))
    const { files, verb } = objectsIn(clause, goesOn)
    found.push(...files)
    goesOn = verb
  }
  return found.filter(({ path }, at) => found.findIndex((other) => other.path === path) === at)
}

function objectsIn(
  clause: readonly string[],
  goesOn: string | undefined,
): { readonly files: readonly NamedFile[]; readonly verb: string | undefined } {
  const files: NamedFile[] = []
  // Only a clause that begins with a file continues the clause before it.
  let verb = goesOn !== undefined && isPath(clause[0] ?? '') ? goesOn : undefined
  let distance = 0
  for (const [at, word] of clause.entries()) {
    if (changing.has(word)) {
      const before = clause.slice(0, at)
      const isOwn = !before.some((each) => hedges.has(each)) && !linking.has(clause[at - 1] ?? '')
      verb = isOwn || /^(?:have|has|i've|we've|also|now)$/.test(clause[at - 1] ?? '') ? keep(word, before) : undefined
      distance = 0
    } else if (isPath(word)) {
      if (verb !== undefined && !(repairing.has(verb) && isTestFile(word)))
        files.push({ path: word, gone: removing.has(verb) })
    } else if (
      verb !== undefined &&
      (aside.has(word) || (word === 'to' && !givingTo.has(verb)) || ++distance > farthest)
    ) {
      verb = undefined
    }
  }
  // "Modified files: a.ts, b.ts" names them in the clauses behind it.
  const announces = clause.length <= 5 && clause.some((word) => word === 'file' || word === 'files')
  return { files, verb: files.length > 0 || announces ? verb : undefined }
}

function keep(verb: string, before: readonly string[]): string | undefined {
  return before.some((word) => hedges.has(word)) ? undefined : verb
}

/** "a.ts and b.ts were updated", "a.ts now reads the variable". */
function passives(clause: readonly string[]): readonly NamedFile[] {
  return clause.flatMap((word, at): readonly NamedFile[] => {
    if (!isPath(word)) return []
    let next = at + 1
    while (next < clause.length && (linking.has(clause[next] ?? '') || isPath(clause[next] ?? ''))) next++
    const said = clause.slice(at + 1, next).filter((each) => !isPath(each))
    const verb = clause[next] ?? ''
    if (clause.slice(0, at).some((each) => hedges.has(each) || aside.has(each))) return []
    if (said.length > 0 && changing.has(verb)) return [{ path: word, gone: removing.has(verb) }]
    return said.at(-1) === 'now' && said.length === 1 && /^[a-z]+s$/.test(verb) ? [{ path: word, gone: false }] : []
  })
}

/** "Fixed the failing test in a.test.ts" is true when that passes, whatever was changed for it. */
function isTestFile(path: string): boolean {
  return /test|spec/i.test(path)
}
