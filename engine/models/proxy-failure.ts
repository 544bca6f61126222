import { causesOf } from '../core/certificates.ts'
import { proxyOf } from './proxy-variables.ts'

/**
 * What the proxy of the environment did instead of connecting to a URL: words that follow "can't be reached:", and whether it may do better later. Undefined
 * if the failure isn't the proxy's.
 */
export function proxyFault(
  error: Error,
  url: URL,
  env: Readonly<Record<string, string | undefined>>,
): { readonly words: string; readonly retryable: boolean } | undefined {
  const proxy = proxyOf(env, url)
  if (proxy === undefined) return undefined
  const { label, variable, host } = proxy
  const cause = causesOf(error).at(-1) ?? error
  const words = cause.message === '' ? cause.name : cause.message
  // These are the words of Node's `fetch` and of its `http`.
  const [, byFetch, byHttp] =
    /^Proxy response \((\d+)\)|^Failed to establish tunnel .* HTTP\/1\.\d (\d+)/.exec(words) ?? []
  const status = Number(byFetch ?? byHttp)
  // The first is for the way to a server with https; for others, Node's `fetch` takes the status as a failure of its own.
  if (status === 407 || /proxy authentication required/i.test(words))
    return {
      words: `the proxy ${label} asks for a user and a password (407). Set them in ${variable}: http://USER:PASSWORD@${host}`,
      retryable: false,
    }
  const named = `the proxy ${label} (${variable})`
  if (status >= 500) return { words: `${named} can't connect to it (${status})`, retryable: true }
  if (status > 0)
    return {
      words: `${named} refuses to connect to it (${status}). Allow it there, or name its host in NO_PROXY`,
      retryable: status === 429,
    }
  const { code = '' } = cause as NodeJS.ErrnoException
  // Node's `fetch` names what it waited for only in the message.
  const isSilent = code === 'UND_ERR_CONNECT_TIMEOUT' && words.includes(` ${host},`)
  if (code === 'ERR_INVALID_ARG_VALUE' && words.includes('TLS ServerName'))
    return {
      words: `${named} can't be used, because Node connects to a proxy with https only by its name, not by an address. Name its host in ${variable}`,
      retryable: false,
    }
  if (isSilent || isAbout(cause, host)) return { words: `${named} doesn't answer: ${words}`, retryable: true }
  return code.startsWith('UND_ERR_SOCKS5') ? { words: `${named} refuses: ${words}`, retryable: false } : undefined
}

function isAbout(cause: Error, host: string): boolean {
  const { address, port, hostname } = cause as Error & Partial<Record<'address' | 'port' | 'hostname', unknown>>
  const { hostname: name, port: number } = new URL(`http://${host}`)
  return hostname === name || (String(port) === (number === '' ? '80' : number) && typeof address === 'string')
}
