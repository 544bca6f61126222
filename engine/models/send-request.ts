import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import process from 'node:process'
import { sendByHttp } from './http-request.ts'
import { isInRange, proxyVariables } from './proxy-variables.ts'
import { sendByFetch, type Send } from './send-by-fetch.ts'

let unproxied: Parameters<typeof sendByHttp>[2]

/**
 * Sends a request as `fetch` does. `fetch` itself, which takes longer to load, is used if somebody passed options to Node, because these may configure
 * or replace it; and with a proxy, because `node:http` ignores some settings that `fetch` obeys: `HTTP_PROXY` for https, SOCKS, and domains without a
 * leading dot in `NO_PROXY`. Also, `node:http` can't stop waiting for a silent proxy. But `fetch` doesn't know ranges of addresses in `NO_PROXY`.
 */
export const send: Send = (input, init) => {
  const { env, execArgv } = process
  if (execArgv.length === 0 && !['NODE_OPTIONS', ...proxyVariables].some((name) => Boolean(env[name])))
    return sendByHttp(input, init)
  const direct = env['no_proxy'] ?? env['NO_PROXY'] ?? ''
  if (!direct.includes('/') || !isInRange(URL.parse(String(input))?.hostname ?? '', direct))
    return sendByFetch(input, init)
  unproxied ??= { 'http:': new HttpAgent(), 'https:': new HttpsAgent() }
  return sendByHttp(input, init, unproxied)
}
