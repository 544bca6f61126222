import type { UnsupportedClaim } from '../../core/events.ts'
import { findFileClaims } from './file-claims.ts'
import { documentsIn, isDocument } from './named-paths.ts'
import type { KnownOfRun } from './run-evidence.ts'
import type { Sentence } from './sentences.ts'
import { refusedWrites } from './refused-writes.ts'
import { findUntouchedClaims, saysNothingChanged } from './untouched-claims.ts'
import { pattern } from './word-patterns.ts'

const reviewing = pattern(
  String.raw`^\W*(?:code )?review (?:of|for)\b|\bi (?:only |have )?(?:read|reviewed) (?:through )?(?:the|your|this) (?:diff|branch|pr|changes|pull request|merge request|patch)\b`,
)

const ownDeed = /\b(?:I|I've|we|We)\b/
const passive = /\b(?:is|are|was|were)\b/i
const recent = /\b(?:now|new|no longer|(?:has|have) been)\b/i

const saysMissing = pattern(
  String.raw`\b(?:no longer exists?|(?:is|are|was|were|has been|have been) (?:\w+ )?(?:gone|deleted|removed)|deleted|removed|gelöscht|entfernt|supprimé|eliminad[oa]|borrad[oa]|removid[oa]|apagad[oa]|eliminat[oa]|rimoss[oa])\b|削除`,
  'i',
)

/** Finds claims about changed and unchanged files that the record contradicts. */
export function ofFiles(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  const { changed, workspace, goesOn } = known
  const inside = changed.map((path) => (path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path))
  const untouched = findUntouchedClaims(
    sentences,
    inside,
    known.succeeded.some((each) => /\b(?:commit|merge|rebase|pull|cherry-pick|revert|am|stash|switch)\b/.test(each)),
  ).map(({ path, text }) => ({
    claim: 'file' as const,
    text,
    why: `${path} was changed`,
  }))
  if (goesOn) return untouched
  // The message itself says that the run changed nothing, so the changes that it describes must have been made before the run.
  if (changed.length === 0 && saysNothingChanged(sentences)) return []
  const named = findFileClaims(sentences, (path) => isChanged(path, known), changed.length > 0)
  // If the run changed nothing, a sentence in the passive voice may describe what somebody else did. If the run only reviewed something, the same is
  // true of any sentence that doesn't say that the run itself did something.
  const isLook = changed.length === 0
  const isReview = isLook && named.length > 0 && sentences.some(({ plain }) => reviewing.test(plain))
  const own = named
    .filter(
      // A claim that a file is gone is true if the file doesn't exist, whoever deleted it. The list of changes leaves out files that git ignores.
      ({ path, text }) => !(saysMissing.test(text) && known.isTouched(path) === 'absent'),
    )
    .filter(({ text }) => ownDeed.test(text) || !(isReview || (isLook && passive.test(text) && !recent.test(text))))
  const asBefore = own.map(({ path, text }) => ({
    claim: 'file' as const,
    text,
    why: `${path} is as it was before the run`,
  }))
  const contradicted = [...asBefore, ...untouched]
  return contradicted.length > 0 ? contradicted : refusedWrites(sentences, known, (path) => isChanged(path, known))
}

function isChanged(path: string, { changed, isTouched }: KnownOfRun): boolean {
  const named = path.replace(/^(?:\.\/)+/, '')
  if (named.endsWith('/'))
    return changed.some((each) => each.includes(`/${named}`)) || isTouched(named.slice(0, -1)) !== 'as-before'
  if (documentsIn(named).length > 0 && !named.includes('.')) return changed.some((each) => isDocument(each, named))
  const suffix = `/${named}`
  if (changed.some((each) => each === named || each.endsWith(suffix) || suffix.endsWith(`/${lastOf(each, named)}`)))
    return true
  return isTouched(named) === 'written'
}

/**
 * Returns the last segments of a changed file's path: one fewer than `named` has, but at least two. If `named` has more than two, its first segment
 * is thus ignored in the comparison, because it may be a folder above the workspace.
 */
function lastOf(changed: string, named: string): string {
  const depth = named.split('/').length
  return changed
    .split('/')
    .slice(-Math.max(2, depth - 1))
    .join('/')
}
