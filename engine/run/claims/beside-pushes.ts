import type { UnsupportedClaim } from '../../core/events.ts'
import { findPushClaims } from './push-claims.ts'
import { quoted } from './quoted.ts'
import type { KnownOfRun } from './run-evidence.ts'
import { isStatement, type Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'

/**
 * Finds claims that a run's successful pushes contradict or don't support: that nothing was pushed, that a merge request was opened, and that a tag was pushed.
 *
 * @internal
 */
export function besidePushes(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  const pushed = known.pushes.filter(({ command, outcome }) => outcome === 'ok' && isGitPush(command))
  if (pushed.length === 0 || pushed.some(({ command }) => undoing.test(command))) return []
  return [
    ...denied(sentences, quoted(pushed[0]?.command ?? '')),
    ...requested(sentences, known),
    ...tagged(sentences, known),
  ]
}

const undoing = / (?:--delete|-d|:\S)/

/** Matches a clause that says that nothing was pushed. */
const nothingPushed = pattern(
  String.raw`(?:\b(?:i|we)(?:'ve| have| did)? ?(?:not|n't|never)|\b(?:i|we) (?:haven't|didn't)|^(?:and |but )?(?:have not|haven't|did not|didn't|not|never)) (?:yet )?push(?:ed)? (?:anything|the (?:branch|commits?|changes?|work))(?: yet| so far| at all| myself)*$|\b(?:i|we) (?:haven't|have not|didn't|did not) (?:yet )?push(?:ed)?(?: yet| so far)*$|\bnothing (?:has been|was|is|got) pushed(?: yet| so far| at all)*$|\bi (?:have )?pushed nothing(?: yet| so far| at all)*$|\b(?:the )?(?:remote|server|origin|github|gitlab) (?:knows|has (?:seen|heard)|sees|saw|got) nothing(?: of (?:it|them|this|that|these))?(?: yet| so far| at all)*$|\b(?:commits?|branch|work|changes?|everything) (?:(?:is|are|live|lives|exist|exists|sit|sits|stay|stays|remain|remains) )(?:still )?(?:only (?:local|on (?:your|this) (?:laptop|machine|computer|disk))|(?:on (?:your|this) (?:laptop|machine|computer|disk)|local|locally) only)$|^(?:ich habe )?(?:noch )?(?:nichts gepusht|nicht gepusht)$|\bgepusht (?:habe ich|ist|wurde) (?:noch )?(?:nichts|nicht)$|\bje n'ai (?:pas |rien )(?:encore )?(?:poussé|pushé)$|\brien n'(?:a été|est) (?:poussé|pushé)$|\bno (?:he subido|he pusheado|subí) nada$|\bno (?:he hecho|hice) (?:el |ningún )?push$|\bnão (?:fiz|dei) (?:o |nenhum )?push(?: de nada)?$|\bnão enviei nada$|\bgepusht (?:wurde|ist) (?:noch )?nichts$|\bnon ho (?:pushato|inviato) (?:nulla|niente)$|プッシュは?(?:まだ)?(?:していません|してない)$|\b(?:es )?(?:wurde|ist) (?:bisher |noch )?nichts gepusht$|^nichts (?:ist|wurde) (?:bisher |noch )?gepusht$|\bno se ha (?:subido|pusheado) nada$|\bnada foi enviado$|\bnon è stato (?:pushato|inviato) (?:nulla|niente)$|\b(?:the )?remote(?: branch| history)? (?:is|was|stays?) (?:still )?(?:untouched|unchanged)$|\b(?:i|we)(?:'ve| have)? (?:only did|only done|did|done) (?:this|it|that|everything|all of (?:it|this|that)) (?:only locally|locally only)$|\b(?:i|we)(?:'ve| have)? only (?:did|done) (?:this|it|that|everything|all of (?:it|this|that)) locally$`,
)
const ofPush = pattern(
  String.raw`push|laptop only|only local|(?:did|done) .* locally|subido|enviado|inviato|local(?:ly)? only|pouss|プッシュ|remote|origin|upstream|git(?:hub|lab)|bitbucket|\b(?:pr|pull request|merge request)\b`,
)

const limited = /\b(?:since|after|before|until|when|if|else|other|main|master|at first|initially)\b/
const forReader = /\bfirst,|\b(?:before|until) you (?:decide|look|review|approve|agree|say|have|merge)\b/g
const ofCommits = /commit|branch|history|rebase|squash|push|remote|pouss|プッシュ/

/** Finds a statement that nothing was pushed, provided that every sentence that mentions a push states this. */
function denied(sentences: readonly Sentence[], command: string): readonly UnsupportedClaim[] {
  const speaking = sentences.filter(({ plain }) => ofPush.test(plain.replace(/`[^`]*`/g, '')))
  const [said] = speaking
  if (said === undefined || !speaking.every(isStatement)) return []
  const isSaid = speaking.every(({ plain }) => {
    const clauses = plain.replace(/[.!。]$/, '').split(/[,;:()—–。、]\s?|\s(?=(?:and|but) )/)
    return clauses.some((clause) => nothingPushed.test(clause.trim()))
  })
  const isLimited = speaking.some(({ plain }) => limited.test(plain.replace(forReader, '')))
  // "I only did this locally" may be about something that isn't in the repository.
  if (!/push/.test(said.plain) && sentences.every(({ plain }) => !ofCommits.test(plain))) return []
  return isSaid && !isLimited ? [{ claim: 'push', text: said.text, why: `a push succeeded: ${command}` }] : []
}

const ownRequest = pattern(
  String.raw`\b(?:i|i've|we|we've)(?: have)?(?: also| then| just)? (?:opened|raised|filed|created) (?:(?:a|an|the|draft|new|corresponding|matching) ){0,3}(?:pr|pull request|merge request|mr)\b(?! (?:templates?|descriptions?|body|text|titles?))`,
)
/** Matches commands that may open a merge request. Many programs can do that. */
const mayRequest =
  /\b(?:pr|mr|hub|tea|arc|az|gh|glab|curl|http|wget)\b|pull|merge|request|refs\/for|api|submit|review|open/i
const anotherTime = /\b(?:earlier|before(?!\/)|previous|last|yesterday|already|ago|session|in (?:january|may))\b/

/** Finds statements that the run itself opened a merge request, if no command in the run could have opened one. */
function requested(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  const { pushes, succeeded, goesOn } = known
  const commands = [...succeeded, ...pushes.map(({ command }) => command)]
  if (goesOn || commands.some((each) => mayRequest.test(withoutMessage(each)))) return []
  if (pushes.some(({ command }) => !/\bgit\b/.test(command))) return []
  const claims = new Set(findPushClaims(sentences, [], false, 'request'))
  const told = sentences.filter(
    (each) =>
      isStatement(each) && claims.has(each.text) && ownRequest.test(each.plain) && !anotherTime.test(each.plain),
  )
  return told.map(({ text }) => ({ claim: 'push', text, why: 'no command in the run opened a merge request' }))
}

/** Reduces a simple `git commit` command to these two words, because words such as "merge request" mean nothing in a commit message. */
function withoutMessage(command: string): string {
  return /\bgit commit\b/.test(command) && !/&&|;|\|/.test(command) ? 'git commit' : command
}

const tagsPushed = pattern(
  String.raw`\bpushed (?:(?!created|made|set|added|put|prepared|left|before|under|for|from|since|after|to|in|by|but|not)\S+ ){0,5}tags?(?=$|[.,;:)]| v?\d| (?:to|too|and|as well)\b)|\btags?(?: v?\d\S*)?(?: (?:is|are|was|were|has|have|been|created|set|made|and|also|now|both|already)){0,6} pushed\b(?! (?:by|once|when|if|after)\b)|\btags?(?: v?\d\S*)? (?:(?:is|are|was|were|sits?|sitting|lives?|visible|available|live|up|now|both|all|already|also|est|sont|ist|sind|liegt|está|están|estão|è|sono|maintenant|jetzt|ya|já|ora) ){1,4}(?:on|at|auf|bei|sur|en|no|na|su) (?:origin|github|gitlab|bitbucket|the (?:remote|server))\b`,
)
/** Matches commands that handle tags, but create none. */
const listing = /\bgit tag --?(?:contains|list|points-at|sort|merged|delete|[dlvn])\b/
const noTag = pattern(
  String.raw`\b(?:not|never|no|only|local\w*|without|refused|denied|rejected|failed|left|yourself)\b|n't\b`,
)

/** Finds statements that a tag was pushed, if the run created a tag but no push included it. */
function tagged(sentences: readonly Sentence[], { pushes, succeeded }: KnownOfRun): readonly UnsupportedClaim[] {
  const tag = succeeded
    .filter((each) => !listing.test(each))
    .flatMap((each) => /\bgit tag(?: -\S+)* ([\w./-]+)/.exec(each)?.[1] ?? [])
    .at(-1)
  const mayPush = /tag|[$*]|--mirror|\bv?\d+\.\d/
  const reaches = ({ command, hasNewTag = false }: KnownOfRun['pushes'][number]): boolean =>
    hasNewTag || !isGitPush(command) || mayPush.test(command) || command.includes(` ${tag}`)
  if (tag === undefined || pushes.some(reaches) || succeeded.some((each) => /followtags/i.test(each))) return []
  if (sentences.some(({ plain }) => /\btag/.test(plain) && noTag.test(plain))) return []
  const claims = new Set(findPushClaims(sentences, [], false))
  const told = sentences.filter((each) => isStatement(each) && claims.has(each.text) && tagsPushed.test(each.plain))
  return told.map(({ text }) => ({ claim: 'push', text, why: `no push of the run included the tag ${tag}` }))
}

function isGitPush(command: string): boolean {
  return /\bgit\b/.test(command) && /\bpush\b/.test(command)
}
