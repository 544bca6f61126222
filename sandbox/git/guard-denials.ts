import type { Denial } from '../sandbox.ts'

/** The reason to report for a git entry that a review moves away or cleans. */
export const gitRule = 'git metadata that the host would execute'

/** The reason to report for a directory that a review moves away because its path is too long for the scan of the roots. */
export const tooDeep = 'too deep to be searched'

/** The advice to a person about an entry that can't be moved away. */
export const stuck = 'look at this entry, and remove it yourself before git or an agent runs there'

/** The denial for an entry that was moved away. It says where the entry is now. */
export function denial(path: string, rule: string, to: string): Denial {
  return {
    kind: 'quarantine',
    subject: `${path} (moved to ${to})`,
    rule,
    certainty: 'proven',
    remedy: { kind: 'otherwise', advice: `look at ${to} and, if you want it, move it back yourself` },
  }
}

/** The denial for an entry that was left in its place after its dangerous settings were removed. */
export function cleanedDenial(path: string): Denial {
  return {
    kind: 'quarantine',
    subject: `${path} (settings that make git run programs were removed)`,
    rule: gitRule,
    certainty: 'proven',
    remedy: { kind: 'otherwise', advice: 'add these settings again yourself, if you want them' },
  }
}
