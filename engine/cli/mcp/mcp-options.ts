import type { ConfigOptions } from '../declare/config-options.ts'

/** The options of `agent mcp add`, as parsed. */
export type AddOptions = {
  readonly url?: string
  readonly transport?: 'stdio' | 'http' | 'sse' | 'ws'
  readonly env?: readonly string[]
  readonly header?: readonly string[]
  readonly bearerTokenEnvVar?: string
  readonly clientId?: string
  readonly clientCredentials?: true
  readonly clientSecretEnvVar?: string
  readonly privateKeyEnvVar?: string
  readonly issuer?: string
  readonly scopes?: readonly string[]
  readonly oauthResource?: string
  readonly callbackPort?: number
}

/** The options of the commands about servers that are configured. */
export type NamedServerOptions = ConfigOptions & {
  readonly json?: true
  readonly scopes?: readonly string[]
  /** False: the browser is on another machine. */
  readonly browser?: boolean
}
