/**
 * A server's name as a part of its tools' names (`mcp__NAME__tool`), which providers take only in letters, digits, `-` and single `_`. Any other
 * character becomes `_`, as in Claude Code.
 */
export function serverName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_').split('_')
  const joined = plain.filter((part) => part !== '').join('_')
  return /^[A-Za-z0-9]/.test(joined) ? joined : `server_${joined.replaceAll('-', '')}`.replace(/_$/, '')
}

/** Notices for servers with a changed name; empty where there are none. */
export function describeName(given: string, origin: string): readonly string[] {
  const name = serverName(given)
  return name === given ? [] : [`${origin}: the server ${JSON.stringify(given)} is called ${name} here.`]
}
