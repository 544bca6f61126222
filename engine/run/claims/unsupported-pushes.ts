import type { UnsupportedClaim } from '../../core/events.ts'
import { destinationOf, registriesOf } from './destinations.ts'
import { besidePushes } from './beside-pushes.ts'
import { findPushClaims } from './push-claims.ts'
import { otherBranches, pushedBy } from './other-branches.ts'
import { quoted } from './quoted.ts'
import type { Deed, KnownOfRun } from './run-evidence.ts'
import { requestsAbroad } from './requests-abroad.ts'
import { unpushedCommits } from './unpushed-commits.ts'
import { sentencesOf, type Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'

/** Finds claims about pushes, published packages and merge requests that the record contradicts. */
export function ofPushes(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  const { pushes, goesOn } = known
  const last = pushes.at(-1)
  if (last?.outcome === 'empty' && (goesOn || sentences.some(({ plain }) => rehearsal.test(plain)))) return []
  const beside = besidePushes(sentences, known)
  if (beside.length > 0) return beside
  const others = [
    ...otherBranches(sentences, known),
    ...requestsAbroad(sentences, known),
    ...unpushedCommits(sentences, known),
  ]
  return others.length > 0 ? others : against(sentences, known)
}

/** Words that mark a push or publication as a dry run or a trial. */
const rehearsal = /\bdry\b|rehears|simulat|\btrial\b|would (?:be )?(?:publish|push|upload)|tr(?:y|ied) out|pretend/

function against(
  sentences: readonly Sentence[],
  { pushes, changed, succeeded, goesOn }: KnownOfRun,
): readonly UnsupportedClaim[] {
  // A push to a branch may have succeeded although the merge request for that branch was refused.
  const requests = pushes.filter(({ command }) => /\b(?:pr|mr) (?:create|merge)\b/.test(command))
  const isMixed = pushes.some(isThere)
  if (isMixed && (requests.length === 0 || requests.slice(-1).some(isThere)))
    return notThere(sentences, pushes, succeeded)
  const last = (isMixed ? requests : pushes).at(-1)
  if (last === undefined && goesOn) return []
  const remotes = pushes.flatMap(
    ({ command }) => /\bpush(?: -\S+)* ([a-z][\w-]{2,40})\b/.exec(command.slice(0, 1024))?.[1]?.toLowerCase() ?? [],
  )
  const why = last === undefined ? 'no command in the run pushed anything' : whyNot(last)
  const registries = pushes.flatMap(({ command }) => registriesOf(command))
  const about = isMixed ? 'request' : registries.length > 0 ? 'registry' : 'remote'
  const found = findPushClaims(
    sentences,
    [...remotes, ...registries],
    last !== undefined && last.outcome !== 'empty' && !isMixed,
    about,
  )
  // If a run neither changed nor committed anything, its message may describe what was already on the remote.
  const isLook = last === undefined && changed.length === 0 && !succeeded.some((each) => committing.test(each))
  return found.flatMap((text) => (isLook && !ownPush.test(text) ? [] : [{ claim: 'push', text, why }]))
}

const committing =
  /\b(?:commit|tag(?! (?:--?(?:contains|list|l|points-at|sort|merged|n\d?)\b))|merge(?!-base)|rebase|cherry-pick|am|revert|pull)\b/
/** Words that show that a claim is about a push or publication by the run itself. */
const ownPush = pattern(
  String.raw`\b(?:i|i've|we|we've)\b|^\W*(?:\w+ (?:and|&) )?(?:force-?)?(?:pushed|published|uploaded|opened|created|merged|released|deployed|shipped)\b`,
  'i',
)

/** Phrases that refer to several destinations at once, such as "both remotes". */
const everywhere = pattern(
  String.raw`\b(?:both|all|each|every|two|three)(?: of)?(?: the| our| your)?(?: \w+)? (?:remotes?|mirrors?|repos|repositories|registr(?:y|ies)|hosts|servers|destinations|places|sides)\b`,
)

const partEnd = /[;–—]|,? (?=(?:but|while|though|although|whereas|not)\b)/
const failing =
  /\b(?:declined|refused|denied|rejected|failed|fails|blocked|not|never|no|cannot|without|needs|40[13])\b|n't\b/
const publishing = /deploy|publish|releas|upload|push/
const limiting = /\b(?:not|only|never|no|just|instead|except|besides|n't)\b/i

/** Finds claims about the destinations and branches that no push reached, if other pushes succeeded. */
function notThere(
  sentences: readonly Sentence[],
  pushes: readonly Deed[],
  succeeded: readonly string[],
): readonly UnsupportedClaim[] {
  const branches = pushes.map((deed) => ({ deed, names: pushedBy(deed.command, succeeded) }))
  // If it isn't known which branches a push updated, it may have updated any of them.
  const ofBranches = branches.every(({ names }) => names !== undefined)
    ? branches.flatMap(({ deed, names = [] }) =>
        names
          .filter((name) => !/^v?\d{1,6}\.\d/.test(name))
          .map((name) => ({
            deed,
            place: `branch ${name}`,
            names: [name.toLowerCase().replace(/[^\w/-]/g, '\\$&')],
            isRegistry: false,
          })),
      )
    : []
  const told = [...pushes.map((deed) => ({ deed, ...destinationOf(deed.command) })), ...ofBranches]
  const reached = new Set(told.filter(({ deed }) => isThere(deed)).map(({ place }) => place))
  const missed = told.filter(({ deed, place }) => place !== undefined && !isThere(deed) && !reached.has(place))
  const last = new Map(missed.map((each) => [each.place, each]))
  return [...last.values()].flatMap(({ deed, names, isRegistry }) => {
    const named = pattern(`(?<![\\w/.-])(?:${names.join('|')})(?![\\w/-])`)
    const find = (each: readonly Sentence[]): readonly string[] =>
      findPushClaims(each, names, false, isRegistry ? 'registry' : 'remote')
    const isNamed = (part: string): boolean => named.test(part) || everywhere.test(part)
    if (sentences.some(({ plain }) => failing.test(plain) && (publishing.test(plain) || isNamed(plain)))) return []
    // The part of a sentence that names the destination must itself contain the claim, unlike in "Both remotes are set up; I pushed to origin."
    const told = find(sentences).filter((text) =>
      text
        .split(partEnd)
        .some((part) => isNamed(part.toLowerCase()) && !limiting.test(part) && find(sentencesOf(part)).length > 0),
    )
    return told.map((text) => ({ claim: 'push' as const, text, why: whyNot(deed) }))
  })
}

const isThere = ({ outcome }: Deed): boolean => outcome === 'ok' || outcome === 'unknown'

function whyNot({ outcome, command }: Deed): string {
  if (outcome === 'empty') return `the push was only a dry run: ${quoted(command)}`
  return `the push ${outcome === 'refused' ? 'was refused' : 'failed'}: ${quoted(command)}`
}
