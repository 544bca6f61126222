const name = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/
const addressCharacters = /^[0-9a-f:.]+$/

/**
 * Reads one host of a rule and returns it in lower case: a name, with or without a final dot, or an address, with or without brackets. A port may follow.
 * Undefined for anything else, including wildcards.
 */
export function readHost(text: string): { readonly host: string; readonly port?: number } | undefined {
  const lower = text.trim().toLowerCase()
  if (isAddress(lower)) return { host: lower }
  const [, bracketed, plain = '', digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([0-9]{1,5}))?$/.exec(lower) ?? []
  const host = bracketed ?? plain.replace(/\.$/, '')
  if (!(bracketed === undefined ? name.test(host) : isAddress(host))) return undefined
  if (digits === undefined) return { host }
  const port = Number(digits)
  return port > 0 && port < 65_536 ? { host, port } : undefined
}

function isAddress(text: string): boolean {
  const colon = text.indexOf(':')
  return colon >= 0 && addressCharacters.test(text) && !text.slice(0, colon).includes('.')
}
