/** Matches joined paths if one of them isn't absolute, or if normalizing would change it. */
export const unusualPath = /(?:^|\n)(?!\/)|\/\.{0,2}(?:[/\n]|$)/

/** Matches joined protected paths if one of them is empty, or may leave its root. */
export const leavingPath = /^$|^\n|\n\n|\n$|\.\./

/**
 * Whether a value is a list of texts of which none is suspicious. A single test of the joined list can confirm that, whereas checking each entry would take
 * longer than everything else about a policy.
 *
 * @param suspicious matches all entries that are invalid or have to be normalized, and possibly others. An entry that contains a line feed counts as two
 */
export function isUsualList(given: unknown, suspicious: RegExp): given is string[] {
  if (!Array.isArray(given) || !given.every((entry) => typeof entry === 'string')) return false
  const text = given.join('\n')
  return !text.includes('\0') && !suspicious.test(text)
}
