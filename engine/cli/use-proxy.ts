import process from 'node:process'
import { UserError } from '../core/user-error.ts'
import { proxyOf, proxyUrl, proxyVariables } from '../models/proxy-variables.ts'

/**
 * Sends requests to model providers through the proxy that the environment names (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`, in upper or lower case). Commands in
 * the sandbox are unaffected, because they use the sandbox's network.
 *
 * @throws UserError if the proxy is not a valid URL
 * @returns a notice if this version of Node can't use the proxy; otherwise an empty list
 */
export function useProxyFromEnvironment(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const named = proxyVariables.filter((name) => env[name] !== undefined && env[name] !== '')
  const broken = named.find((name) => proxyUrl(env[name] ?? '') === undefined)
  if (broken !== undefined) {
    // The value is not quoted, because it may contain a password.
    throw new UserError(
      'usage',
      `The proxy in ${broken} is not a URL such as http://proxy.example:8080 or socks5://proxy.example:1080.`,
    )
  }
  if (named.length === 0) return []
  // The module is loaded only here, so that a start without a proxy doesn't load it. Node 22 has no `setGlobalProxyFromEnv`.
  const http: Partial<typeof import('node:http')> = process.getBuiltinModule('node:http')
  if (http.setGlobalProxyFromEnv === undefined) {
    return [
      `${named[0]} is set, but Node ${process.versions.node} uses a proxy only if it is started with NODE_USE_ENV_PROXY=1.`,
    ]
  }
  const [plain, secure] = ['http:', 'https:'].map((protocol) => proxyOf(env, { protocol })?.url)
  http.setGlobalProxyFromEnv({
    ...(plain === undefined ? {} : { http_proxy: plain }),
    ...(secure === undefined ? {} : { https_proxy: secure }),
    no_proxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '',
  })
  return []
}
