/** How the tokens of a remote server are obtained. */
export type OAuthSettings = {
  /** With `client_credentials`, the client proves itself; with `authorization_code`, a person has signed in. */
  readonly grant: 'authorization_code' | 'client_credentials'
  /** Undefined: the client registers itself at the authorization server. */
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  /** The key with which the client signs its requests for tokens (PKCS #8, in PEM). */
  readonly privateKey: string | undefined
  /** The only authorization server that may receive the secret. Undefined: the first that the server names. */
  readonly issuer: string | undefined
  readonly clientMetadataUrl: string | undefined
  /** The port to which a browser returns. Undefined: any. */
  readonly callbackPort: number | undefined
  /** The scopes that tokens are requested for. `[]`: those that the server asks for. */
  readonly scopes: readonly string[]
  /** Undefined: the resource that the server names. */
  readonly resource: string | undefined
}
