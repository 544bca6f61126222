/** How many characters of a name are matched against a regular expression. No provider accepts tool names of more than 64 characters. */
const longest = 100

/**
 * Whether a group's matcher covers a name. An absent or empty matcher and `*` cover everything. A matcher that consists only of letters, digits, `_`, `-`, `,`,
 * `|` and spaces is a list of names. Any other matcher is a JavaScript regular expression, which may match any part of the name.
 */
export function matchesName(matcher: string | undefined, name: string): boolean {
  if (matcher === undefined || matcher === '' || matcher === '*') return true
  if (/^[\w\-,| ]+$/.test(matcher)) return matcher.split(/[|,]/).some((one) => one.trim() === name)
  return new RegExp(matcher).test(name.slice(0, longest))
}
