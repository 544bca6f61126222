import type { UnsupportedClaim } from '../../core/events.ts'
import { findPushClaims } from './push-claims.ts'
import { quoted } from './quoted.ts'
import type { Deed, KnownOfRun } from './run-evidence.ts'
import type { Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'

/** Finds claims about pushes, published packages and merge requests that the record contradicts. */
export function ofPushes(
  sentences: readonly Sentence[],
  { pushes, changed, succeeded, goesOn }: KnownOfRun,
): readonly UnsupportedClaim[] {
  const isThere = ({ outcome }: Deed): boolean => outcome === 'ok' || outcome === 'unknown'
  // A branch may have been pushed although the merge request for it was refused.
  const requests = pushes.filter(({ command }) => /\b(?:pr|mr) (?:create|merge)\b/.test(command))
  const isMixed = pushes.some(isThere)
  if (isMixed && (requests.length === 0 || requests.slice(-1).some(isThere))) return []
  const last = (isMixed ? requests : pushes).at(-1)
  if (last === undefined && goesOn) return []
  const remotes = pushes.flatMap(
    ({ command }) => /\bpush(?: -\S+)* ([a-z][\w-]{2,40})\b/.exec(command.slice(0, 1024))?.[1]?.toLowerCase() ?? [],
  )
  const why =
    last === undefined
      ? 'no command of the run pushed anything'
      : `the push ${last.outcome === 'refused' ? 'was refused' : 'failed'}: ${quoted(last.command)}`
  const registries = pushes.flatMap(({ command }) => registriesOf(command))
  const about = isMixed ? 'request' : registries.length > 0 ? 'registry' : 'remote'
  const found = findPushClaims(sentences, [...remotes, ...registries], last !== undefined && !isMixed, about)
  // If a run changed and committed nothing, its message may describe what was already at the remote.
  const isLook = last === undefined && changed.length === 0 && !succeeded.some((each) => committing.test(each))
  return found.flatMap((text) => (isLook && !ownPush.test(text) ? [] : [{ claim: 'push', text, why }]))
}

const committing = /\b(?:commit|tag|merge|rebase|cherry-pick|am|revert|pull)\b/
/** Words of a claim that the run itself pushed or published something. */
const ownPush = pattern(
  String.raw`\b(?:i|i've|we|we've)\b|^\W*(?:\w+ (?:and|&) )?(?:force-?)?(?:pushed|published|uploaded|opened|created|merged|released|deployed|shipped)\b`,
  'i',
)

/** The names that a message may use for the place to which a command publishes. */
function registriesOf(command: string): readonly string[] {
  if (/\b(?:docker|podman|buildah|nerdctl|crane|skopeo|helm|oras)\b/.test(command))
    return ['(?:(?:the|your|our) )?registry', 'docker hub', 'dockerhub', 'ghcr\\.io', 'quay\\.io']
  if (/\b(?:npm|pnpm|yarn|bun|lerna|jsr) publish\b/.test(command)) return ['npm', 'npmjs\\S*', 'registry', 'jsr']
  if (/\b(?:twine|flit|hatch|poetry|uv|pdm)\b/.test(command)) return ['pypi', 'testpypi', 'registry', 'package index']
  if (/\bcargo publish\b/.test(command)) return ['crates\\.io', 'registry']
  if (/\bgem push\b/.test(command)) return ['rubygems\\S*', 'registry']
  return /\b(?:publish|release|deploy|upload)/.test(command)
    ? [
        'registry',
        'production',
        'prod',
        'staging',
        'live',
        'maven central',
        'nexus',
        'artifactory',
        'hex\\.pm',
        'nuget\\S*',
      ]
    : []
}
