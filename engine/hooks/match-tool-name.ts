/** Names have at most 64 characters where a provider is to accept them. */
const longest = 100

/**
 * Whether a group's matcher covers a name. Absent, empty and `*` cover everything; a matcher of letters, digits, `_`, `-`,
 * `,`, `|` and spaces alone is a list of names; any other is a JavaScript regular expression that may match anywhere in it.
 */
export function matchesName(matcher: string | undefined, name: string): boolean {
  if (matcher === undefined || matcher === '' || matcher === '*') return true
  if (/^[\w\-,| ]+$/.test(matcher)) return matcher.split(/[|,]/).some((one) => one.trim() === name)
  return new RegExp(matcher).test(name.slice(0, longest))
}
