/** Matches a list of paths, one per line, if any of them isn't absolute or might be changed by normalization. */
export const unusualPath = /(?:^|\n)(?!\/)|\/\.{0,2}(?:[/\n]|$)/

/** Matches a list of protected paths, one per line, if any of them is empty or may lead out of its root. */
export const leavingPath = /^$|^\n|\n\n|\n$|\.\./

/** Matches the name of an environment variable. */
export const variableName = /^[^=\0]+$/

/**
 * Whether a value is a list of strings, and `suspicious` matches none of them. The strings are joined and tested all at once, because checking each
 * entry would take longer than all other checks of a policy.
 *
 * @param suspicious matches all entries that are invalid or have to be normalized, and possibly others. An entry that contains a line feed counts as
 * two
 */
export function isUsualList(given: unknown, suspicious: RegExp): given is string[] {
  if (!Array.isArray(given) || !given.every((entry) => typeof entry === 'string')) return false
  const text = given.join('\n')
  return !text.includes('\0') && !suspicious.test(text)
}
