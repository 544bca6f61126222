/**
 * The environment variables that name the proxy for requests with https, in order of precedence. As for curl, lower case comes first. Node's own clients
 * use `HTTP_PROXY` for https too.
 */
export const proxyVariables: readonly string[] = [
  'https_proxy',
  'HTTPS_PROXY',
  'all_proxy',
  'ALL_PROXY',
  'http_proxy',
  'HTTP_PROXY',
]

type Environment = Readonly<Record<string, string | undefined>>

/** A proxy that the environment names. `label` is its URL without a password, `host` its host and port. */
type NamedProxy = {
  readonly variable: string
  readonly url: string
  readonly label: string
  readonly host: string
}

/** The value of a proxy variable as a URL. As for curl, git and npm, a value without a scheme is an http proxy. Undefined if it isn't a URL of a proxy. */
export function proxyUrl(value: string): string | undefined {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`
  const url = URL.parse(text.replace(/^socks5?h?:/i, 'socks5:'))
  return url !== null && /^(?:https?|socks5):$/.test(url.protocol) && url.hostname !== '' ? url.href : undefined
}

/** The proxy through which requests to a URL go; undefined if they go directly. */
export function proxyOf(env: Environment, { protocol }: Pick<URL, 'protocol'>): NamedProxy | undefined {
  const plain = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY']
  const order = protocol === 'http:' ? plain : proxyVariables
  const variable = order.find((name) => (env[name] ?? '') !== '')
  const url = variable === undefined ? undefined : proxyUrl(env[variable] ?? '')
  if (variable === undefined || url === undefined) return undefined
  const { protocol: scheme, host } = new URL(url)
  return { variable, url, label: `${scheme}//${host}`, host }
}

/** Whether a host is an address in one of the ranges (such as `10.0.0.0/8`) that are to be reached without a proxy. */
export function isInRange(hostname: string, ranges: string): boolean {
  const host = bitsOf(hostname.replace(/^\[(.*)\]$/, '$1'))
  if (host === undefined) return false
  return ranges.split(/[\s,]+/).some((range) => {
    const [, address = '', length = ''] = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(range) ?? []
    const network = bitsOf(address)
    return network?.length === host.length && network.slice(0, Number(length)) === host.slice(0, Number(length))
  })
}

/** The bits of an IP address as text; undefined if the text isn't one. */
function bitsOf(address: string): string | undefined {
  const url = URL.parse(`http://${address.includes(':') ? `[${address}]` : address}`)
  if (url === null) return undefined
  const { hostname } = url
  const parts = hostname.split('.').map(Number)
  if (/^\d+(?:\.\d+){3}$/.test(hostname)) return parts.map((part) => part.toString(2).padStart(8, '0')).join('')
  if (!hostname.startsWith('[')) return undefined
  const [before = '', after] = hostname.slice(1, -1).split('::')
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'))
  const [head, tail] = [groups(before), groups(after ?? '')]
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length
  return [...head, ...Array<string>(zeros).fill('0'), ...tail]
    .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0'))
    .join('')
}
