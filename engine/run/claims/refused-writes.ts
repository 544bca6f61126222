import type { UnsupportedClaim } from '../../core/events.ts'
import { quoted, scriptOf } from './quoted.ts'
import type { KnownOfRun } from './run-evidence.ts'
import { plainOf, type Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'

/** Words that may admit that something was refused or not done, or may ask the user to do it. A message that contains one of them makes no claim. */
const admitting = pattern(
  String.raw`\b(?:refus\w*|den(?:y|ied|ies)|declin\w*|reject\w*|block\w*|forbid\w*|prevent\w*|stopped|permission\w*|polic(?:y|ies)|allow\w*|sandbox\w*|fail\w*|unable|cannot|not|never|without|yourself|please|manually|by hand|still|remains?|left|leave|would|should|could|need\w*|instead|to be|approv\w*)\b|n't\b`,
)
/** Phrases such as "no callers left", in which "left" doesn't admit that something wasn't done. */
const nothingLeft = pattern(
  String.raw`\b(?:no|any|zero) (?:\w+ )?(?:callers?|users?|references?|uses?|usages?|importers?|consumers?)(?: \w+)? left\b`,
  'g',
)

const verbs =
  'deleted|removed|wrote|created|added|moved|copied|installed|put|renamed|overwrote|updated|changed|edited|dropped'
const ownDeed = pattern(
  String.raw`\b(?:i|i've|we|we've)(?: have)?(?: also| then| now| just)? (?:${verbs}) [^,;:.]{0,40}‹`,
)
const deedOfIt = pattern(
  String.raw`‹[^;:.]{0,60}\b(?:i|i've|we)(?: have)?(?: also| then| now| just)? (?:${verbs}) (?:it|them|that|both)\b`,
)

/**
 * Finds statements that the run wrote or deleted a file, although the command that should have done so was refused, no command that succeeded names the file,
 * and the file wasn't changed. Returns none if any sentence might admit the refusal.
 *
 * @internal
 */
export function refusedWrites(
  sentences: readonly Sentence[],
  { refused, succeeded }: KnownOfRun,
  isChanged: (path: string) => boolean,
): readonly UnsupportedClaim[] {
  if (refused.length === 0) return []
  if (sentences.some(({ plain }) => admitting.test(plain.replace(nothingLeft, '')))) return []
  return refused.flatMap((command) =>
    pathsOf(command)
      .filter((path) => !isChanged(path) && succeeded.every((each) => !each.includes(path)))
      .flatMap((path) => {
        const said = sentences.find(({ text, isOpen }) => !isOpen && saysDone(text, path))
        if (said === undefined) return []
        return [{ claim: 'file' as const, text: said.text, why: `the command was refused: ${quoted(command)}` }]
      })
      .slice(0, 1),
  )
}

/** The paths containing a slash that a command names, except those of programs in directories such as `/usr/bin`. */
function pathsOf(command: string): readonly string[] {
  return scriptOf(command)
    .split(/[\s'"<>|&;]+/)
    .filter((word) => /^[\w.@/][\w.@/+-]{3,}$/.test(word) && word.includes('/') && !/^\/(?:usr\/)?s?bin\//.test(word))
}

function saysDone(text: string, path: string): boolean {
  if (text.endsWith('?') || !text.includes(`\`${path}\``)) return false
  const marked = plainOf(text.replaceAll(`\`${path}\``, '‹'))
  return ownDeed.test(marked) || deedOfIt.test(marked)
}
