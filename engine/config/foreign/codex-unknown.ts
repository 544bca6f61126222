import { UserError } from '../../core/user-error.ts'
import { ignoring, type Ignored } from '../ignored.ts'
import { keyOf } from '../leaves.ts'
import { placeOf, type Place } from '../validate.ts'
import { codexVersion } from './codex-keys.ts'
import { guardingKeyNear, isCodexKey } from './translate-codex.ts'

/**
 * Describes the keys of a command line or a file for Codex that mean nothing here.
 *
 * @param strict whether a key that Codex doesn't have either is an error, as with its `--strict-config`
 * @throws UserError `usage` for a key that Codex doesn't have, if `strict` or if it is probably a misspelt key about the sandbox, approvals or the network
 */
export function describeMeaningless(
  place: Place,
  paths: readonly (readonly string[])[],
  strict: boolean,
): readonly Ignored[] {
  const unknown = paths.filter((path) => !isCodexKey(path))
  for (const path of unknown) {
    const near = guardingKeyNear(path)
    if (!strict && near === undefined) continue
    const advice =
      near === undefined
        ? `Codex ${codexVersion} doesn't have it either; leave it out, or leave out --strict-config`
        : `did you mean '${near}'? A run must not begin without a limit that was meant`
    throw new UserError('usage', `${placeOf(place, path)}: unknown key '${keyOf(path)}'; ${advice}`)
  }
  const known = paths.filter((path) => isCodexKey(path))
  return [
    ...ignoring(place.name, known.map(keyOf), 'Codex has this setting, but Portcullis does not'),
    ...ignoring(place.name, unknown.map(keyOf), 'neither Codex nor Portcullis has this setting'),
  ]
}
