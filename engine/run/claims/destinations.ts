/** The places to which commands push or publish. */

/** A destination: what distinguishes it from others, and the names that a message may use for it, as parts of a pattern. */
type Destination = {
  /** Identifies the destination. Undefined if the command doesn't name it, or gives its address instead of a name. */
  readonly place: string | undefined
  readonly names: readonly string[]
  readonly isRegistry: boolean
}

/** The destination of a command that pushes or publishes, such as the remote `mirror` or the npm registry. */
export function destinationOf(command: string): Destination {
  const registries = registriesOf(command)
  if (registries.length > 0) return { place: registries.join(' '), names: registries, isRegistry: true }
  const words = command.slice(0, longestRead).split(/[\s'"]+/)
  const at = words.lastIndexOf('push')
  const given = at < 0 ? [] : upToJoint(words.slice(at + 1))
  const remote = given.find((word) => !word.startsWith('-'))
  if (!words.includes('git') || remote === undefined || !/^[a-z][\w-]{2,40}$/i.test(remote))
    return { place: undefined, names: [], isRegistry: false }
  const isOfTags = given.some(
    (word) => word === '--tags' || word.startsWith('refs/tags/') || /^v?\d{1,6}\.\d/.test(word),
  )
  if (isOfTags) return { place: `tags ${remote}`, names: ['tags?'], isRegistry: false }
  return { place: `git ${remote}`, names: [remote.toLowerCase()], isRegistry: false }
}

const longestRead = 1024

/** The words of a command up to the first operator, such as `&&`, `|` or `;`, which ends the command. */
function upToJoint(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word) => /^[&|;]/.test(word))
  return end < 0 ? words : words.slice(0, end)
}

/** Patterns for the names that a message may use for the place to which a command publishes. */
export function registriesOf(command: string): readonly string[] {
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
