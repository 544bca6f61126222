import { isPath, type Sentence } from './sentences.ts'
import { givingTo, isChangeInPresent, isChangeVerb, isDoneVerb, pastOf, removing, repairing, set } from './verbs.ts'

/** A file that a sentence names as changed. */
type NamedFile = { readonly path: string; /** It is named as removed, or as moved away. */ readonly gone: boolean }

/** After these words follows a reason, a comparison or another statement, but not a changed file. */
const ending = set(
  `using via like as because for so that which where since while import imports importing reference call after when matching between based per against
   than instead about whose if before until whenever unless`,
)
/** After these words follows a source, a means or a value, and perhaps then the place: "bumped it from 18 to 20 in a.json". */
const suspending = set('from to with of by out')
const placing = set('in into inside onto within across throughout under')
/** After these words, something known may be described by its place: "replaced it with the helper in a.ts". */
const known = set('the that those these what how its their this one ones')
const moving = set('created added deleted removed renamed moved')
const hedges = set(
  `should would could will shall may might must can need needs not never without unable if cannot plan going didn't don't doesn't haven't hasn't couldn't
   can't won't wasn't isn't weren't aren't nothing no neither nor suggest recommend consider propose try`,
)
const linking = set("was were is are has have been being got now also all both it's since since then just")
const perfect = set('was were been got')
const agents = set("i i've we we've i'd")
const adverbs = set(
  'also then now just have simply finally already additionally further too so has therefore instead quickly',
)
/** With one of these words the sentence may describe history, unless it is in the first person. */
const history = set(
  'commit diff pr pull branch previously already before upstream author release earlier last ago originally when somebody someone',
)
const firstPerson = set("i i've i'm we we've my our")
const works = set('fix fixes change changes edit edits implementation patch work')
/** Below a heading with one of these words stand observations or proposals. */
const observations = set(
  'review findings finding issues problems suggestions suggested todo next should could would plan proposed consider notes',
)
const farthest = 12

/** The subject and verb that a sentence has had so far, for later clauses that continue it. */
type Said = { readonly verb: string | undefined; readonly byAgent: boolean; readonly open: boolean }

/**
 * The files that a sentence claims were changed: as the object of a change, as the place of one, as the subject of "was changed", as something new,
 * or in a list below "Files changed:".
 */
export function findChangedFiles({
  clauses,
  openers,
  words,
  listedAsChanged,
  heading,
}: Sentence): readonly NamedFile[] {
  const found: NamedFile[] = []
  if (words.some((word) => history.has(word)) && !words.some((word) => firstPerson.has(word))) return []
  const [first = '', second = ''] = words
  const isToldOf =
    !heading.some((word) => observations.has(word)) &&
    isPath(first) &&
    /^[:(—–-]?$/.test(openers[1] ?? '') &&
    (isChangeVerb(second) || isDoneVerb(second))
  if ((listedAsChanged || isToldOf) && isPath(first))
    found.push({ path: first, gone: words.some((word) => removing.has(word)) })
  // "Implemented it for all: / - `A` in a.ts"
  if (listedAsChanged && clauses[0]?.length === 3 && clauses[0][1] === 'in' && isPath(clauses[0][2] ?? ''))
    found.push({ path: clauses[0][2] ?? '', gone: false })
  let said: Said = { verb: undefined, byAgent: false, open: false }
  // "a.ts and b.ts were updated": the verb comes with the last.
  let waiting: string[] = []
  let inBrackets = false
  let named: string | undefined
  let hasArrived = false
  for (const [index, clause] of clauses.entries()) {
    if (openers[index] === '(') inBrackets = true
    else if (openers[index] === ')') inBrackets = false
    const subjects = passives(clause)
    if (subjects.length > 0) found.push(...waiting.map((path) => ({ path, gone: subjects[0]?.gone === true })))
    waiting = clause.every(isPath) ? [...waiting, ...clause] : []
    const arrived = arrivals(clause, hasArrived)
    const isBrief = clause.length <= 4 && !clause.some(isPath)
    if (!inBrackets && !(hasArrived && isBrief)) hasArrived = arrived.length > 0
    found.push(...subjects, ...arrived, ...mendedIt(clause, named))
    named = clause.findLast(isPath) ?? named
    const { files, ...next } = objectsIn(clause, said, { isFirst: index === 0, inBrackets })
    found.push(...files, ...placedBefore(clause, clauses[index + 1]))
    if (!inBrackets) said = next
  }
  return found.filter(({ path }, at) => found.findIndex((other) => other.path === path) === at)
}

function objectsIn(
  clause: readonly string[],
  said: Said,
  { isFirst, inBrackets }: { readonly isFirst: boolean; readonly inBrackets: boolean },
): Said & { readonly files: readonly NamedFile[] } {
  const files: NamedFile[] = []
  // A clause that begins with a file continues the one before it: "changed a.ts, b.ts". In brackets, it names the file of that clause.
  const isMore = isPath(clause[0] ?? '') && (said.open || (inBrackets && clause.every(isPath)))
  let verb = isMore ? said.verb : undefined
  let isSuspended = false
  let distance = 0
  let byAgent = false
  for (const [at, word] of clause.entries()) {
    const done = doneBy(clause, at, isFirst || said.byAgent)
    if (done !== undefined) {
      if (done.isOwn) byAgent = true
      ;[verb, isSuspended, distance] = [done.verb, false, 0]
    } else if (isPath(word) || (verb !== undefined && moving.has(verb) && /^[\w.@-]+(?:\/[\w.@-]+)*\/$/.test(word))) {
      if (verb !== undefined && !isSuspended && !(repairing.has(verb) && isTestFile(word)))
        files.push({ path: word, gone: removing.has(verb) })
    } else if (verb !== undefined) {
      const next = clause[at + 1] ?? ''
      if (ending.has(word) || ++distance > farthest) verb = undefined
      else if (word === 'into' || (placing.has(word) && isSuspended)) isSuspended = false
      else if (suspending.has(word) && !(word === 'to' && givingTo.has(verb))) {
        if (known.has(next) && word !== 'of' && word !== 'out') verb = undefined
        else isSuspended = true
      }
    }
  }
  // "Modified files: a.ts, b.ts" names them in the clauses behind it.
  const announces = clause.length <= 5 && clause.some((word) => word === 'file' || word === 'files')
  const open = files.length > 0 || announces
  return {
    files,
    verb: verb ?? (inBrackets ? said.verb : lastVerb(clause)),
    byAgent: byAgent || (isMore && said.byAgent),
    open,
  }
}

function lastVerb(clause: readonly string[]): string | undefined {
  const at = clause.findLastIndex((word, index) => isChangeVerb(word) || (index === 0 && isDoneVerb(word)))
  return at >= 0 && !clause.slice(0, at).some((word) => hedges.has(word)) ? clause[at] : undefined
}

/** Whether a word is a verb of something that was done. `verb` is undefined if it was not done: "should be updated". */
function doneBy(
  clause: readonly string[],
  at: number,
  mayBegin: boolean,
): { readonly verb: string | undefined; readonly isOwn: boolean } | undefined {
  const [word = '', before] = [clause[at], clause.slice(0, at)]
  const last = clause[at - 1] ?? ''
  const isHedged = before.some((each) => hedges.has(each))
  if (
    isChangeInPresent(word) &&
    before.slice(-3).some((each) => /^(?:this|change|patch|commit|which|it)$/.test(each))
  ) {
    return { verb: isHedged ? undefined : word, isOwn: !isHedged }
  }
  if (isChangeVerb(word)) {
    const isOwn = !isHedged && (!linking.has(last) || /^(?:have|has|i've|we've|also|now|then|just)$/.test(last))
    return { verb: isOwn ? word : undefined, isOwn }
  }
  // "took the liberty of updating", "finished by updating"
  const past = /^(?:of|by|and|finished|done|besides|including|up)$/.test(last) || at === 0 ? pastOf(word) : undefined
  if (past !== undefined && (at > 0 || mayBegin))
    return { verb: isHedged || at === 0 ? undefined : past, isOwn: !isHedged && at > 0 }
  if (!isDoneVerb(word)) return undefined
  const agent = before.findLastIndex((each) => agents.has(each))
  const between = before.slice(agent + 1)
  const isBegun = agent >= 0 || mayBegin
  if (!isBegun || !between.every((each) => adverbs.has(each) || /^[a-z]+ly$/.test(each))) return undefined
  return { verb: word, isOwn: true }
}

/** "a.ts and b.ts were updated", "a.ts now reads the variable", "a.ts has been regenerated". */
function passives(clause: readonly string[]): readonly NamedFile[] {
  return clause.flatMap((word, at): readonly NamedFile[] => {
    if (!isPath(word)) return []
    let next = at + 1
    while (next < clause.length && (linking.has(clause[next] ?? '') || isPath(clause[next] ?? ''))) next++
    const said = clause.slice(at + 1, next).filter((each) => !isPath(each))
    const verb = clause[next] ?? ''
    const before = clause.slice(0, at)
    if (before.some((each) => hedges.has(each) || ending.has(each) || suspending.has(each) || placing.has(each)))
      return []
    const isDone = isChangeVerb(verb) || (isDoneVerb(verb) && said.some((each) => perfect.has(each)))
    if (said.length > 0 && isDone) return [{ path: word, gone: removing.has(verb) }]
    if (/^no longer [a-z]{2,}s\b/.test(clause.slice(at + 1, at + 4).join(' '))) return [{ path: word, gone: false }]
    // "a.ts now just loads it"
    const then = clause.slice(at + 1).filter((each) => !adverbs.has(each) || each === 'now')
    return then[0] === 'now' && /^[a-z]{2,}s$/.test(then[1] ?? '') && then[1] !== 'is' && then[1] !== 'was'
      ? [{ path: word, gone: false }]
      : []
  })
}

/** "In a.ts, I replaced the loop." */
function placedBefore(clause: readonly string[], next: readonly string[] = []): readonly NamedFile[] {
  if (!placing.has(clause[0] ?? '') || !clause.slice(1).every(isPath) || next.some((word) => hedges.has(word)))
    return []
  const at = next.findIndex((word) => agents.has(word))
  const verb = next.slice(at + 1).find((word) => !adverbs.has(word)) ?? ''
  const isDone = at >= 0 && (isChangeVerb(verb) || isDoneVerb(verb)) && !repairing.has(verb)
  return isDone && !next.some(isPath) ? clause.slice(1).map((path) => ({ path, gone: false })) : []
}

/** "a.ts leaked it, so I fixed that too." */
function mendedIt(clause: readonly string[], named: string | undefined): readonly NamedFile[] {
  if (named === undefined || isTestFile(named) || clause.some((each) => hedges.has(each))) return []
  const at = clause.findIndex(
    (word) => repairing.has(word) || /^(?:updated|adjusted|rewrote|reworked|edited)$/.test(word),
  )
  const isOwn = at > 0 && clause.slice(0, at).some((word) => agents.has(word))
  return isOwn && /^(?:that|it|this)$/.test(clause[at + 1] ?? '') ? [{ path: named, gone: false }] : []
}

/** "The fix is in a.ts", "the new module a.ts", "physics now lives in a.c, audio in b.c". */
function arrivals(clause: readonly string[], goesOn: boolean): readonly NamedFile[] {
  const isBrief = clause.length <= 5 && clause.slice(1, 4).includes('in') && !clause.some((word) => linking.has(word))
  const isMore = goesOn && (clause.every(isPath) || isBrief)
  const been = clause.findIndex((word, at) => perfect.has(word) && isDoneVerb(nextVerb(clause, at)))
  const isOfFault = clause.some((word) => /^(?:bug|regression|problem|issue|error|leak|crash|race|typo)s?$/.test(word))
  return clause.flatMap((word, at): readonly NamedFile[] => {
    if (!isPath(word) || clause.slice(0, at).some((each) => hedges.has(each) || ending.has(each))) return []
    const before = clause.slice(Math.max(0, at - 4), at)
    const isNew = before.at(-1) === 'new' || (before.at(-2) === 'new' && /^[a-z]+$/.test(before.at(-1) ?? ''))
    const lies = /(?:^| )(?:is|are|lives|live|sits|landed) (?:all )?(?:in|into)$/.test(before.join(' '))
    const went = /(?:^| )(?:went (?:in|into|to)|(?:is|are) now in|lives? on in)$/.test(before.join(' '))
    // "The definitions in a.yaml have been deleted", "the route was registered in a.php"
    const verb = been < 0 ? '' : nextVerb(clause, been)
    const isIn = placing.has(clause[at - 1] ?? '') && been >= 0 && !isOfFault && !repairing.has(verb)
    // "It was added in a.c" may tell of long ago.
    const isDoneThere =
      isIn && (at < been || clause[been] === 'been') && !clause.slice(been, at).some((each) => suspending.has(each))
    const isOfWork = lies && clause.slice(0, at).some((each) => works.has(each))
    const isMoved = /(?:^| )now (?:lives|live|sits|resides|goes|belongs) in/.test(clause.slice(0, at).join(' '))
    return isNew || isOfWork || isMoved || isMore || went || isDoneThere ? [{ path: word, gone: false }] : []
  })
}

/** The verb of "have been quietly deleted". */
function nextVerb(clause: readonly string[], at: number): string {
  return (
    clause.slice(at + 1, at + 4).find((word) => !linking.has(word) && !adverbs.has(word) && !/^[a-z]+ly$/.test(word)) ??
    ''
  )
}

/** "Fixed the failing test in a.test.ts" is true when that passes, whatever was changed for it. */
function isTestFile(path: string): boolean {
  return /test|spec/i.test(path)
}
