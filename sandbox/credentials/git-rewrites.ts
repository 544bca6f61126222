import { insideOf, outsideOf, readCredentials, type Credential } from './credential.ts'

/**
 * Git's settings, as pairs of key and value, that lead git to the proxy: it asks for `http://HOST/…` where a remote names the host by https, git or ssh. The
 * remotes themselves stay as they are.
 */
export function gitRewrites(credentials: readonly Credential[]): readonly (readonly [string, string])[] {
  return readCredentials(credentials).flatMap(({ as, hosts, allow }) => {
    if (as !== 'git' && !allow.some(({ kind }) => kind === 'git')) return []
    return hosts.flatMap((origin) => {
      const { host, port } = origin
      const spelled =
        port === 443 ? [`git@${host}:`, `ssh://git@${host}/`, `ssh://git@${host}:22/`, `git://${host}/`] : []
      return [`${outsideOf(origin)}/`, ...spelled].map((text) => [`url.${insideOf(origin)}/.insteadOf`, text] as const)
    })
  })
}
