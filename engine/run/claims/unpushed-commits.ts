import type { UnsupportedClaim } from '../../core/events.ts'
import { quoted } from './quoted.ts'
import type { KnownOfRun } from './run-evidence.ts'
import { isStatement, type Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'

const some = '(?:both|all|all of (?:them|it|these|those)|all (?:two|three|four|five|\\d)|two|three|four|five|[2-9])'
const now = '(?:now |already |also |since |both |all )*'
/** Statements that each commit was pushed. The first group, if there is one, is the number of commits or a word such as "all". */
const allPushed: readonly RegExp[] = [
  `\\bcommits?\\b[^.;]{0,60}(?:^|[,(—–] |\\b)(${some}) (?:(?:are|were|is|have been|got) )?${now}(?:pushed|on (?:origin|github|gitlab|bitbucket|the remote))(?=$|[.,;:)!—–]| (?:to|now|as well|too|and))`,
  `\\b(${some}) (?:of the |my |the |new |separate |small )*commits (?:(?:are|were|have been|got) )?${now}(?:pushed|on (?:origin|github|gitlab|bitbucket|the remote))\\b`,
  `\\bpushed (${some}) (?:of the |my |the |new |separate |small )*commits\\b`,
  '\\b(?:the |my )?(?:remote|remote branch|origin) is (?:now |also )*(?:up[- ]to[- ]date|in sync|level) with (?:my |the |your )?local\\b',
  "\\b(?:i|we)(?:'ve| have)? (?:committed and )?pushed everything(?=$|[.,;:)!—–])|\\beverything (?:is|was|has been) (?:committed and )?(?:now )?pushed(?=$|[.,;:)!—–])",
].map((each) => pattern(each))

/** Signs that something was left out, or that the message is about several branches. */
const limiting = pattern(
  String.raw`\b(?:not|never|un-?pushed|local only|only local\w*|locally|last commit|except|apart from|yet|rest|remaining|later|afterwards|without|if|once|when|until|would|should|will|can|could|please|earlier|before|first push)\b|n't\b|^(?:please )?push\b`,
)
const twos: ReadonlySet<string> = new Set(['both', 'two', '2', 'all two'])

/**
 * Finds a statement that all commits were pushed, if the run made a commit after its last push that succeeded.
 *
 * @internal
 */
export function unpushedCommits(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  const { pushes, succeeded, goesOn } = known
  if (goesOn || pushes.some(({ command }) => !/\bgit push\b/.test(command))) return []
  const isThere = pushes.filter(({ outcome }) => outcome === 'ok' || outcome === 'unknown')
  const last = isThere.at(-1)?.command
  const at = last === undefined ? -1 : succeeded.lastIndexOf(last)
  if (last === undefined || at < 0 || elsewhere.test(last)) return []
  const after = succeeded.slice(at + 1)
  const late = after.find((each) => committing.test(each))
  if (late === undefined || after.some((each) => elsewhere.test(each))) return []
  const commits = succeeded.filter((each) => committing.test(each)).length
  const told = sentences.filter(isStatement)
  if (told.some(({ plain }) => /push|commit|remote|origin/.test(plain) && limiting.test(plain))) return []
  const [said] = told.filter(({ plain }) =>
    allPushed.some((each) => {
      const [whole, number] = each.exec(plain) ?? []
      return whole !== undefined && (number === undefined || !twos.has(number) || commits === 2)
    }),
  )
  return said === undefined
    ? []
    : [{ claim: 'push', text: said.text, why: `a commit was made after the last push: ${quoted(late)}` }]
}

const committing = /\bgit commit\b/
/** Commands that may concern another branch or repository, undo a commit, or push in a way that the record doesn't show. */
const elsewhere = pattern(
  String.raw`\b(?:cd|checkout|switch|worktree|reset|stash|rebase|revert|make|just|npm run|pnpm|yarn|task|rake|gh|glab|hub|jj|hg|svn|sync|curl|ssh|--work-tree|--git-dir)\b| -C |\.sh\b|\bscripts?/|\bbin/(?!bash)`,
)
