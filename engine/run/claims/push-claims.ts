import type { Sentence } from './sentences.ts'
import { conditions, hedges, past, set } from './verbs.ts'

const elsewhere = set('onto into back down aside up off around past inside out')
const places = set(
  `origin remote branch commit commits committed changes upstream main master github gitlab bitbucket fix tag repository repo it them everything work fork
   release hotfix`,
)
const hosts = set('origin remote github gitlab bitbucket upstream azure devops gitea codeberg')
const others = set('somebody someone they he she you author team user who week month yesterday ago by')
const refusing = set("refused failed rejected blocked denied declined fails forbidden prevented couldn't unable")
const being = set("is are was were be been it's now")
const reaching = set('gone went got landed made published uploaded shipped sent synced delivered made reached')
const proposing = set('opened raised created submitted filed')
const requests = set('pr prs mr pull-request merge-request pull merge')

/** Whether a sentence claims that something was pushed, or is in a place that only a push could reach. */
export function claimsPush({ clauses, words, text }: Sentence): boolean {
  if (conditions.has(words[0] ?? '') || text.endsWith('?')) return false
  if (words.some((word) => refusing.has(word))) return false
  return clauses.some((clause) => {
    const at = clause.findIndex((word, index) => isPushed(clause, word, index, words))
    if (at < 0) return false
    const before = clause.slice(0, at)
    if (before.some((word) => hedges.has(word) || others.has(word) || conditions.has(word) || word === 'no'))
      return false
    const after = clause.slice(at + 1)
    if (/^(?:force-)?pushed$/.test(clause[at] ?? '') && after.some((word) => elsewhere.has(word))) return false
    return !after.some((word) => past.has(word) || word === 'by')
  })
}

/** "I've gone ahead and pushed it", "Pushed." */
function isByAgent(clause: readonly string[], at: number): boolean {
  return at === 0 || clause.slice(Math.max(0, at - 4), at).some((word) => /^(?:i|we|i've|we've)$/.test(word))
}

const isHost = (word: string): boolean => hosts.has(word) || word.startsWith('origin/')

function isPushed(clause: readonly string[], word: string, at: number, words: readonly string[]): boolean {
  const after = clause.slice(at + 1)
  const last = clause[at - 1] ?? ''
  if (word === 'pushed' || word === 'force-pushed') {
    return (
      word === 'force-pushed' ||
      words.length <= 4 ||
      isByAgent(clause, at) ||
      words.some((each) => places.has(each) || isHost(each))
    )
  }
  // "I did: edit, commit, push", "the push went through", "`git push -u origin x` went through".
  if (word === 'push' && clause.length === 1 && words[0] === 'i' && words[1] === 'did') return true
  if (word === 'push' && clause.slice(Math.max(0, at - 3), at).includes('did')) return true
  if (word === 'push') {
    const said = / (?:went through|succeeded|worked|was successful|is done|completed|exited 0|went fine|is through)/
    return said.test(` ${after.slice(0, 8).join(' ')}`)
  }
  if (word === 'reached' && after.slice(0, 3).some(isHost)) return true
  if (word === 'published' && after.slice(0, 4).some((each) => /^(?:branch|commits?|tags?|changes)$/.test(each)))
    return true
  if (reaching.has(word) && after.slice(0, 4).includes('upstream')) return true
  if (requests.has(word) && / (?:is|are) (?:now )?(?:open|up|live)\b/.test(` ${after.slice(0, 4).join(' ')}`))
    return true
  if (proposing.has(word) && last !== 'be') return after.slice(0, 4).some((each) => requests.has(each))
  // "Both commits are on the remote", "the branch is up on GitHub now", "it landed on origin".
  if ((word === 'on' || word === 'to' || word === 'with' || word === 'at') && after.slice(0, 3).some(isHost)) {
    const before = clause.slice(Math.max(0, at - 4), at)
    // "Each request is sent to the remote" tells how something works.
    const isHabit = before.some((each, index) => reaching.has(each) && /^(?:is|are)$/.test(before[index - 1] ?? ''))
    if (isHabit || clause.includes('already')) return false
    return (
      before.some(
        (each) => ((being.has(each) || each === 'up' || each === 'live') && word === 'on') || reaching.has(each),
      ) && !before.includes('only')
    )
  }
  // "origin now has both commits", "the remote is up to date".
  return (
    isHost(word) &&
    at <= 1 &&
    /^(?:now )?(?:has|contains|includes|got|is up to date|is in sync)\b/.test(after.join(' '))
  )
}
