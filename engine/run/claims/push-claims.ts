import { clausesOf, type Sentence } from './sentences.ts'
import { couldNotPush, instructs } from './instructions.ts'
import { saidAbroad } from './other-languages.ts'
import * as words from './push-words.ts'

/**
 * Finds the sentences that say that work was pushed to a remote. Returns none if the message admits that a push failed or didn't happen.
 *
 * @param remotes names of the remotes in the recorded commands
 * @param wasTried whether the record contains a push that failed
 * @param about which claims to find. `remote`: those about a remote. `registry`: also those about a registry. `request`: only those about merge requests
 */
export function findPushClaims(
  sentences: readonly Sentence[],
  remotes: readonly string[],
  wasTried: boolean,
  about: 'remote' | 'registry' | 'request' = 'remote',
): readonly string[] {
  const says = about === 'request' ? words.requests : words.arrivals(remotes)
  const isOtherwise = (clause: string): boolean =>
    words.otherwise.test(
      (about === 'registry'
        ? clause.replaceAll(words.published, '')
        : clause.replace(words.pushedImage, 'pushed it')
      ).replace(words.nameWithSlash, 'it'),
    )
  const named = (clause: string): string =>
    about === 'registry' ? clause.replaceAll(words.publication, 'release') : clause
  const claims: string[] = []
  let wasDenied = false
  for (const { text, plain: written, heading, isOpen, isTicked } of sentences) {
    // Removes the empty quotation marks of a title that was left out: `PR "" is open`.
    const plain = written.replaceAll(' ""', '').replace(words.harmless, '')
    const real = plain.split(words.condition)[0] ?? ''
    const clauses = clausesOf(/\S/.test(real) ? real : plain)
    if (
      isOpen ||
      plain.endsWith('?') ||
      words.habit.test(plain) ||
      /^(?:if|once|when|before|until|unless|to |plan\b)/.test(plain)
    )
      continue
    if (/\b(?:remains|plan|next|todo|still to do|would)\b/.test(heading)) continue
    const isTold = clauses
      .map(named)
      .some(
        (clause) =>
          !words.unreal.test(clause) &&
          !isOtherwise(clause) &&
          (says.some((pattern) => pattern.test(clause)) ||
            (wasTried && words.speaksOfIt.test(clause) && !words.adverse.test(plain) && !instructs(text, plain))),
      )
    const spoken = clausesOf(plain.replace(words.branchName, 'it'))
    const isDenied = words.deniedAtLabel.test(plain) || spoken.some((clause) => words.denials.test(clause))
    const abroad = about === 'request' ? undefined : saidAbroad('pushed', plain)
    if (abroad === 'not so' || (wasTried && couldNotPush(plain))) return []
    if (
      (isTold || abroad === 'so' || words.reported.test(plain) || (isTicked && words.pushStep.test(plain))) &&
      (!isDenied || words.overcome.test(plain))
    )
      claims.push(text)
    else if (isDenied && !clauses.every((clause) => isOtherwise(clause))) wasDenied = true
    // If this sentence claims a repeated push, an earlier failure was only the first attempt: "The first push was rejected. I rebased and pushed again."
    if (claims.at(-1) === text && words.retried.test(plain) && says.some((pattern) => pattern.test(plain)))
      wasDenied = false
  }
  return wasDenied ? [] : claims
}
