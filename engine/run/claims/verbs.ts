/** English words that claims consist of. */
export const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** Words that turn a following claim into a wish, a condition, a denial or a duty. */
export const hedges = set(
  `should would could will shall may might must can expect expected expects hopefully hope if until unless once please ensure ensures need needs cannot
   not never none nothing when unable whether sure verify to let assuming likely probably unverified didn't don't doesn't haven't hasn't couldn't can't won't wasn't isn't
   weren't aren't wouldn't shouldn't`,
)
export const conditions = set('if once when before until unless assuming whether')
export const past = set('before previously earlier originally until yesterday')

/** Verbs of somebody who has changed a file, wherever they stand; never an imperative or a plan. */
const changing = set(
  `updated changed modified edited created added wrote rewrote deleted removed renamed refactored patched moved replaced adjusted extended introduced
   corrected fixed mended repaired cleaned reworked simplified migrated`,
)
export const removing = set('deleted removed renamed moved migrated')
export const repairing = set('fixed mended repaired corrected')
/** Verbs with which "to" may precede the changed file: "added a check to a.ts". */
export const givingTo = set('added moved renamed introduced wrote migrated')

const participles = set('begun broken chosen done drawn driven gone hidden rewritten taken written')
const irregular = set(
  'built cut gave hid made put rebuilt redid remade rewrote set shrank split swapped threw took undid unset wrote',
)
/** Verbs in the past tense that leave a file unchanged, such as to find out, try, say, run or leave something. All others changed something. */
const observing = set(
  `admitted advised agreed allowed analysed analyzed answered appeared applied asked assessed assumed attempted audited avoided based benchmarked
   blocked browsed called caught caused chased checked cited claimed committed compared compiled completed concerned concluded confirmed considered
   contained covered crashed dated debated debugged decided declared declined deduced deemed defined deferred denied depended described designed detected
   determined diagnosed diffed discovered discussed displayed doubted ended enjoyed estimated evaluated examined executed exercised expected experienced
   explained explored exported exposed failed figured finished flagged focused followed forked found gathered generated glanced grepped guessed
   happened heard held highlighted identified ignored implied imported included inferred informed inspected installed intended investigated isolated
   judged kept knew known lacked learned learnt left liked linted listed located logged looked lost managed mapped matched measured mentioned merged mirrored
   missed named narrowed needed nested noted noticed observed opened ordered owned passed paused performed pinned-down pinpointed planned pointed posted
   prepared preserved presumed printed profiled proposed proved proven pulled pushed questioned raised ran read realised realized recalled received
   recommended recorded referenced referred refused rejected related relied remained remembered reported reproduced requested required reran
   researched resolved retained returned reverted reviewed saw scanned searched seemed seen showed shown skimmed skipped sorted-out sourced spotted spent started
   stated stayed stepped stopped studied stumbled succeeded suggested supposed surfaced surveyed suspected talked tested thought threw traced tracked
   triaged tried triggered turned-out understood unchanged untouched used validated verified viewed visited waited walked wanted warned watched weighed
   went wondered worked worried united related need indeed`,
)

/** Whether a past-tense verb says that something was changed, as far as the lists know. */
export function isChangeVerb(word: string): boolean {
  return changing.has(word)
}

/** "This adds", "the patch moves". */
export function isChangeInPresent(word: string): boolean {
  return (
    word.endsWith('s') &&
    [word.slice(0, -1), word.slice(0, -2)].some((stem) => changing.has(`${stem}ed`) || changing.has(`${stem}d`))
  )
}

/** A past-tense verb that is none of observing or telling. Without a preceding agent it may mean anything. */
export function isDoneVerb(word: string): boolean {
  return (
    (irregular.has(word) || participles.has(word) || /^(?:re-|un-)?[a-z]{2,}ed$/.test(word)) && !observing.has(word)
  )
}

/** "I've implemented the trait for all three": what a list below may say where of. */
export function saysDone(words: readonly string[]): boolean {
  const at = words.findIndex((word) => /^(?:i|we|i've|we've)$/.test(word))
  const after = words.slice(at + 1, at + 5)
  return (
    at >= 0 && !words.some((word) => hedges.has(word)) && after.some((word) => isChangeVerb(word) || isDoneVerb(word))
  )
}

/** "updating", "fixing": the past of a verb of changing, by its form in -ing; undefined for another. */
export function pastOf(gerund: string): string | undefined {
  if (!gerund.endsWith('ing')) return undefined
  const stem = gerund.slice(0, -3)
  if (gerund === 'writing' || gerund === 'rewriting') return stem.replace('writ', 'wrote')
  return [`${stem}ed`, `${stem}d`].find((past) => changing.has(past))
}
