import type { UnsupportedClaim } from '../../core/events.ts'
import { findPushClaims } from './push-claims.ts'
import type { KnownOfRun } from './run-evidence.ts'
import type { Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'

/** A word that names a branch: a word in backticks or with a slash. "The branch you named" contains none. */
const name = '(?:`([\\w./-]{2,100})`|((?:[\\w.-]{1,60}\\/)+[\\w.-]{1,60}))'
const usual = '`?(?:origin\\/)?(main|master|develop|trunk|staging|production)\\b`?'
/** Words that may come before the name of a branch to which something was pushed. */
const toThe =
  '(?:to|onto|auf|in|an|sur|vers|a|en|para|no|al|su|sul|nel) ?(?:the |a |our |your |its |new |remote |own |den |die |der |dem |einen |le |la |el |o |il |una? |une? |release |feature )*'

/** Statements that something was pushed to a branch. The name of the branch is a capture group. */
const branches: readonly RegExp[] = [
  `\\bpush(?:ed)?\\b[^.;:]{0,80}?\\bto (?:the |a |our |your |its |new |remote |own |release |feature )*(?:branch (?:called |named )?)?${name}(?: branch)?`,
  `\\b(?:is|are|lives?|sits?|waits?) (?:now )?on (?:the branch )?${name} (?:on|at) (?:origin|github|gitlab|bitbucket|the remote)\\b`,
  `\\b${toThe}(?:branch|branche|rama|ramo) ${name}`,
  `\\bpush(?:ed)?\\b[^.;:]{0,60}?\\b(?:to|onto|auf|sur|a|en|para|su) ${usual}(?=$|[\\s,;!)]|\\.(?:$|\\s))(?! (?:server|repo|remote|site))`,
  `${name} ?(?:ブランチ|branch)(?: (?:is|was|has been) (?:now |also )?(?:pushed|on (?:origin|github|gitlab|the remote))|(?:を|に|へ))`,
].map((each) => pattern(each, 'i'))

/** A quick check: if one of the patterns in `branches` matches a text, the text contains one of these words. */
const mayName = /push|branch|rama|ramo|ブランチ| on /i

const denied = pattern(
  String.raw`\b(?:not|never|without|instead|rather|from|when|if|once|until|before|after|should|would|will|can|could|please|merge[ds]?|rebase[ds]?|open(?:ed)?|against|differs?|compare[ds]?)\b|n't\b|\b(?:nicht|kein\w*|pas|no|não|non|sin|sem|senza)\b|ません|ない`,
  'i',
)

/**
 * Finds statements that work was pushed to a branch to which the run pushed nothing. None are found unless it is known which branches each push
 * updates.
 *
 * @internal
 */
export function otherBranches(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  const { pushes, succeeded, goesOn } = known
  const own = pushes.filter(({ command }) => !/\b(?:gh|glab)\b/.test(command))
  if (goesOn || own.length === 0 || own.some(({ command }) => !/\bgit push\b/.test(command))) return []
  const each = own.map(({ command }) => pushedBy(command, succeeded))
  const pushed = each.flatMap((names) => names ?? [])
  if (each.includes(undefined) || pushed.length === 0) return []
  const remotes = new Set(own.map(({ command }) => refsOf(command)[0] ?? ''))
  const names = [...remotes].filter((remote) => /^[a-z][\w-]{2,40}$/.test(remote))
  // The patterns for pushes are compiled only if a sentence names another branch.
  let claims: ReadonlySet<string> | undefined
  const isClaim = (text: string): boolean => (claims ??= new Set(findPushClaims(sentences, names, false))).has(text)
  const isPushed = (branch: string): boolean =>
    remotes.has(branch) ||
    pushed.some((one) => one === branch || one.endsWith(`/${branch}`) || branch.endsWith(`/${one}`))
  return sentences.flatMap((sentence) => {
    if (sentence.isOpen || !mayName.test(sentence.text)) return []
    for (const said of branches) {
      const [whole, ...groups] = said.exec(sentence.text) ?? ['']
      const branch = groups
        .find((group) => group !== undefined)
        ?.replace(/^(?:refs\/heads\/|origin\/)/, '')
        .replace(/\.$/, '')
      if (
        branch === undefined ||
        whole === '' ||
        denied.test(whole) ||
        isPushed(branch) ||
        !isBranch(branch, sentence, known) ||
        !isClaim(sentence.text)
      )
        continue
      return [{ claim: 'push', text: sentence.text, why: `the run pushed ${pushed.slice(0, 3).join(', ')}` }]
    }
    return []
  })
}

/** Whether a name is that of a branch, and not that of a remote or a repository, such as `acme/shop`. */
function isBranch(branch: string, { text }: Sentence, { succeeded }: KnownOfRun): boolean {
  if (/^(?:main|master|develop|trunk|staging|production)$/i.test(branch)) return true
  if (succeeded.some((each) => / (?:checkout|switch|branch)\b/.test(each) && each.includes(branch))) return true
  if (/^(?:feature|feat|fix|hotfix|bugfix|release|wip|chore|docs|refactor|topic)\//i.test(branch)) return true
  const at = text.indexOf(branch)
  return (
    calledBranch.test(text.slice(Math.max(0, at - 20), at)) ||
    calledBranch.test(text.slice(at + branch.length).slice(0, 10))
  )
}

const calledBranch = /branch|rama|ramo|ブランチ/i

/** The remote and the branches that a push names. */
function refsOf(command: string): readonly string[] {
  const words = command.slice(0, 1024).split(/[\s'"]+/)
  const given = words.slice(words.lastIndexOf('push') + 1)
  const end = given.findIndex((word) => /^[&|;>\d]*[&|;>]/.test(word))
  return (end < 0 ? given : given.slice(0, end)).filter((word) => word !== '' && !word.startsWith('-'))
}

/** Options with which a push updates branches or tags that it doesn't name, or deletes branches. */
const many: ReadonlySet<string> = new Set('--all --branches --mirror --tags --follow-tags --delete -d'.split(' '))
const creating = pattern(String.raw`\b(?:checkout -b|switch -c) ([\w./-]+)`, 'i')
const moving = pattern(String.raw`\b(?:checkout (?!-)|switch (?!-)|branch -m|worktree)`)

/** The branches that a push updates or would have updated; undefined if its command doesn't show them. */
export function pushedBy(command: string, succeeded: readonly string[]): readonly string[] | undefined {
  if (/[$*\\]/.test(command) || command.split('git push').length > 2) return undefined
  if (command.split(/[\s'"]+/).some((word) => many.has(word))) return undefined
  const [, ...refs] = refsOf(command)
  const names = refs.map((ref) => (ref.split(':').at(-1) ?? ref).replace(/^\+?(?:refs\/heads\/)?/, ''))
  const isCurrent = names.length === 0 || names.includes('HEAD')
  if (!isCurrent) return names
  const created = succeeded.flatMap((each) => creating.exec(each)?.[1] ?? [])
  const isMoved = succeeded.some((each) => moving.test(each))
  return created.length === 1 && names.length < 2 && !isMoved ? created : undefined
}
