import { withMarks } from './file-claims.ts'
import { leftSurely } from './left-by-pronoun.ts'
import { pathsIn } from './named-paths.ts'
import { isMeant, kindOf, lockFile, testPath } from './path-kinds.ts'
import { isStatement, type Sentence } from './sentences.ts'
import { leftAbroad } from './untouched-abroad.ts'
import { pattern } from './word-patterns.ts'
import * as words from './untouched-words.ts'

/** A sentence that claims that a file was not changed (`text`), and the changed file that contradicts it (`path`, relative to the workspace). */
type UntouchedClaim = { readonly path: string; readonly text: string }

const mostPaths = 200

/**
 * Finds claims that files were not changed, although the record says that they were. A claim may be about files and folders by name, about all files
 * of a kind ("no test was touched"), about all except those that the message names ("nothing else was changed"), about everything outside a folder,
 * or about all files. A claim that changes were undone counts too.
 *
 * @param changed paths of changed files, relative to the workspace
 * @param isCommitted whether git commands of the run may have committed or moved changes. "No changes are left" may then mean only that no
 *   uncommitted changes are left
 */
export function findUntouchedClaims(
  sentences: readonly Sentence[],
  changed: readonly string[],
  isCommitted: boolean,
): readonly UntouchedClaim[] {
  if (changed.length === 0) return []
  const told = sentences.filter(isStatement)
  const isNamed = namesOf(told)
  // These are the changed files that the message doesn't mention.
  const unnamed = changed.slice(0, mostPaths).filter((path) => !isNamed(path))
  const tellsOfChanges = told.some(({ plain }) => words.didChange.test(plain))
  return told.flatMap((sentence, at) => {
    const named = pathsIn(sentence.text.replaceAll('`', ' '), true)
    const marked = withMarks(sentence.text, named)
    const found =
      byName(marked, named, changed, told, sentence) ??
      byKind(marked, unnamed, told, changed) ??
      outside(marked, named, changed, told) ??
      others(marked, unnamed, changed, tellsOfChanges) ??
      byPronoun(leftSurely(sentence, told.slice(0, at)), changed, told) ??
      abroad(marked, named, unnamed, changed, told, sentence) ??
      (isCommitted || tellsOfChanges ? undefined : takenBack(marked, named, unnamed, changed))
    return found === undefined ? [] : [{ path: found, text: sentence.text }]
  })
}

/** Whether a message says that the run changed nothing. */
export function saysNothingChanged(sentences: readonly Sentence[]): boolean {
  return sentences.some(
    ({ plain, isOpen }) =>
      !isOpen && (words.putAllBack.test(plain) || (words.nothingChanged.test(plain) && !words.limited.test(plain))),
  )
}

type Names = ReturnType<typeof pathsIn>

/** Finds a changed file that the sentence claims to be unchanged, by naming the file or a folder that contains it. */
function byName(
  marked: string,
  named: Names,
  changed: readonly string[],
  all: readonly Sentence[],
  own: Sentence,
): string | undefined {
  if (named.length === 0 || words.limited.test(marked)) return undefined
  for (const [at, { path }] of named.entries()) {
    const [before = '', behind = ''] = marked.split(`‹${at}›`)
    // Skips the closing bracket after the file in a sentence such as "The workflow (a.yml) I left alone."
    const after = behind.replace(/^\)(?= )/, '')
    const isLeft =
      (words.leftBefore.test(before) && words.endsThere.test(after)) ||
      (words.nothingIn.test(before) && words.wasTouched.test(after)) ||
      (words.left.test(before) && words.leftAlone.test(after)) ||
      (words.leftAfter.test(after) && !words.partOf.test(before))
    if (!isLeft) continue
    const found = changed.find((each) => isMeant(path, each))
    const isToldElsewhere = all.some((each) => each !== own && each.text.includes(path))
    if (found !== undefined && !(isToldElsewhere && !path.endsWith('/'))) return found
  }
  return undefined
}

function byKind(
  marked: string,
  unnamed: readonly string[],
  all: readonly Sentence[],
  changed: readonly string[],
): string | undefined {
  if (words.ofSome.test(marked.replace(words.notOfSome, ''))) return undefined
  for (const { says, contradictedBy } of words.kinds) {
    if (!says.test(marked)) continue
    const isAdded = contradictedBy === 'tests' && all.some(({ plain }) => newTests.test(plain))
    if (contradictedBy === 'snapshots') return snapshots(all, changed)
    const found = isAdded ? undefined : unnamed.find((path) => kindOf(path) === contradictedBy)
    if (found !== undefined) return found
  }
  return undefined
}

const snapshotPath = pattern(
  String.raw`(?:^|/)__snapshots__/|\.snap$|\.golden$|(?:^|/)(?:goldens?|screenshots)/|\.approved\.`,
)
const newSnapshots = pattern(
  String.raw`\b(?:updat|regenerat|refresh|re-?record|accept|add|new|wrote|writ|creat|renam)\w*\b.{0,60}\bsnapshots?\b|\bsnapshots?\b.{0,60}\b(?:(?:is|are|was|were|been) (?:updat|regenerat|refresh|re-?record|accept|add|new|writ|creat|renam)\w*)`,
)

/**
 * Finds a changed snapshot that the message doesn't name, if no other sentence says that snapshots were changed. The word "snapshot" alone doesn't say so,
 * because many messages about tests contain it.
 */
function snapshots(all: readonly Sentence[], changed: readonly string[]): string | undefined {
  const rest = all.filter(({ plain }) => !words.kinds.some(({ says }) => says.test(plain)))
  if (rest.some(({ plain }) => newSnapshots.test(plain))) return undefined
  return changed.find((path) => snapshotPath.test(path) && all.every(({ text }) => !text.includes(path)))
}

/** Finds a changed file outside the folder to which the sentence limits the changes. */
function outside(
  marked: string,
  named: Names,
  changed: readonly string[],
  all: readonly Sentence[],
): string | undefined {
  const [, first, second] = words.nothingOutside.exec(marked) ?? []
  const folder = named[Number(first ?? second)]?.path.replace(/^(?:\.?\/)+/, '')
  if (folder === undefined || !folder.endsWith('/') || words.limited.test(marked.replace(/\boutside\b/, '')))
    return undefined
  const isNamed = (path: string): boolean =>
    all.some(({ text }) => text.includes(path.slice(path.lastIndexOf('/') + 1)))
  return changed.slice(0, mostPaths).find((path) => !`/${path}`.includes(`/${folder}`) && !isNamed(path))
}

const newTests = pattern(
  String.raw`\b(?:add|adds|added|adding|wrote|write|new|extended|covers|covered|regression|created)\b.{0,80}\b(?:tests?|specs?|cases?|coverage)\b|\b(?:tests?|specs?|cases?) (?:added|extended|for it|is new|are new)\b`,
)

function others(
  marked: string,
  unnamed: readonly string[],
  changed: readonly string[],
  tellsOfChanges: boolean,
): string | undefined {
  if (unnamed.length < changed.length && (words.nothingElse.test(marked) || words.onlyThese.test(marked)))
    return unnamed[0]
  if (!words.nothingChanged.test(marked) || words.limited.test(marked)) return undefined
  if (tellsOfChanges) return undefined
  // Only changed code contradicts the claim that "the code" wasn't changed: a changed document, for example, doesn't.
  return changed.find((path) => !/\bthe code\b/.test(marked) || kindOf(path) === 'code')
}

/** Finds a changed file that a sentence such as "it is unchanged" refers to. Only the files in `left` that exactly one sentence names count. */
function byPronoun(left: readonly string[], changed: readonly string[], all: readonly Sentence[]): string | undefined {
  const once = left.filter((path) => all.filter(({ text }) => text.includes(path)).length === 1)
  return changed.find((each) => once.some((path) => isMeant(path, each)))
}

/** Finds a changed file that a sentence in a language other than English claims to be unchanged. */
function abroad(
  marked: string,
  named: Names,
  unnamed: readonly string[],
  changed: readonly string[],
  all: readonly Sentence[],
  own: Sentence,
): string | undefined {
  const { file, kind, isRest = false } = leftAbroad(marked) ?? {}
  const code = unnamed.find((each) => kindOf(each) === 'code')
  if (isRest && code !== undefined && unnamed.length < changed.length) return code
  if (kind !== undefined) return unnamed.find((each) => kindOf(each) === kind)
  const path = file === undefined ? undefined : named[file]?.path
  if (path === undefined || all.some((each) => each !== own && each.text.includes(path))) return undefined
  return changed.find((each) => isMeant(path, each))
}

function takenBack(
  marked: string,
  named: Names,
  unnamed: readonly string[],
  changed: readonly string[],
): string | undefined {
  if (words.leftSome.test(marked.replace(words.notOfSome, ''))) return undefined
  const [, reverted, same] = words.tookBackIn.exec(marked) ?? []
  const path = named[Number(reverted ?? same)]?.path
  if (path !== undefined) return changed.find((each) => isMeant(path, each))
  if (words.noneLeft.test(marked) || words.tookOutAll.test(marked)) return changed[0]
  return words.tookBack.test(marked) ? unnamed[0] : undefined
}

/** Patterns for paths of changed files, each with a pattern for the words that may refer to such a file without naming it. */
const spokenOf: readonly (readonly [RegExp, RegExp])[] = [
  [
    testPath,
    pattern(
      String.raw`\b(?:an?|its|new|regression|added|updated|extended|wrote|corresponding|matching|with|plus) (?:\w+ ){0,2}(?:tests?|specs?|cases?|snapshots?)\b`,
    ),
  ],
  [lockFile, pattern(String.raw`\b(?:lock|lockfile|dependenc\w+|bump\w*|upgrade\w*|installed)\b`)],
  [
    pattern(String.raw`(?:^|/)(?:package\.json|cargo\.toml|go\.mod|pyproject\.toml|gemfile|pom\.xml)$`, 'i'),
    pattern(String.raw`\b(?:dependenc\w+|bump\w*|version|upgrade\w*|scripts?)\b`),
  ],
  [
    pattern(String.raw`\.(?:md|rst|adoc|txt)$|(?:^|/)docs?/`, 'i'),
    pattern(String.raw`\b(?:docs?|documentation|readme|changelog|release notes|documented|guide)\b`),
  ],
  [pattern(String.raw`(?:^|/)(?:migrations?|migrate|alembic)/`), pattern(String.raw`\bmigrat\w+\b`)],
  [
    pattern(String.raw`\.(?:snap|lock|min\.js|map)$|(?:^|/)(?:dist|build|generated)/`),
    pattern(String.raw`\b(?:generated|regenerated|rebuilt|snapshots?|build output)\b`),
  ],
  [
    pattern(String.raw`^`),
    pattern(
      String.raw`\b(?:callers?|call sites?|usages?|occurrences|imports?|across|everywhere|all (?:the )?files|(?:two|three|four|five|six|\d+|both|several|the other|other|these|those|all) (?:\w+ )?(?:files?|modules?|components?|places?|handlers?|classes|packages))\b`,
    ),
  ],
]

/** Returns a function that tells whether a message mentions a changed file, by its name, its folder or its kind. */
function namesOf(sentences: readonly Sentence[]): (path: string) => boolean {
  const whole = sentences.map(({ text }) => text).join('\n')
  const lower = whole.toLowerCase()
  // A sentence such as "no tests were changed" doesn't count as a mention of the tests.
  const rest = sentences
    .filter(({ plain }) => !words.kinds.some(({ says }) => says.test(plain)) && !words.nothingElse.test(plain))
    .map(({ plain }) => plain)
  const folders = pathsIn(whole.replaceAll('`', ' '), true).filter(({ path }) => path.endsWith('/'))
  const spoken = spokenOf.flatMap(([is, speaks]) => (rest.some((plain) => speaks.test(plain)) ? [is] : []))
  return (path) => {
    const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
    const stem = name.replace(/\.[^.]*$/, '')
    return (
      lower.includes(name) ||
      (stem.length > 3 && lower.includes(stem)) ||
      folders.some((folder) => `/${path}`.includes(`/${folder.path}`)) ||
      spoken.some((is) => is.test(path))
    )
  }
}
