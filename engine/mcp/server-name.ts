/**
 * Returns a server's name in a form that can be part of its tools' names (`mcp__NAME__tool`). Providers accept only letters, digits, `-` and `_`;
 * any other character becomes `_`, as in Claude Code. Several `_` in a row become a single one, because `__` separates the parts of a tool's name.
 * If the result doesn't begin with a letter or a digit, every `-` is removed from it, and it gets the prefix `server_`.
 */
export function serverName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_').split('_')
  const joined = plain.filter((part) => part !== '').join('_')
  return /^[A-Za-z0-9]/.test(joined) ? joined : `server_${joined.replaceAll('-', '')}`.replace(/_$/, '')
}

/** Returns a list with one notice if a server's name had to be changed; otherwise an empty list. */
export function describeName(given: string, origin: string): readonly string[] {
  const name = serverName(given)
  return name === given ? [] : [`${origin}: the server ${JSON.stringify(given)} is called ${name} here.`]
}
