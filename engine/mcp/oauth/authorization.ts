import { createPrivateKey, type KeyObject } from 'node:crypto'
import { createPrivateKeyJwtAuth } from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import {
  extractWWWAuthenticateParams,
  type AddClientAuthentication,
  type OAuthClientProvider,
} from '@modelcontextprotocol/sdk/client/auth.js'
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'
import { UserError } from '../../core/user-error.ts'
import { learnSecret } from '../../core/text/mask-secrets.ts'
import type { Refused } from '../answers.ts'
import type { OAuthSettings } from './oauth-settings.ts'
import type { TokenStore } from './token-store.ts'

/** A person who signs in with a browser. */
type SignIn = {
  /** Where the browser returns to. */
  readonly redirectUrl: string
  /** What the browser must bring back. */
  readonly state: string
  readonly open: (url: URL) => void
}

/** Thrown where only a person could obtain a token. */
class SignInNeededError extends Error {
  override readonly name = 'SignInNeededError'
  readonly code = 401
}

/** What the SDK's client asks when a server wants a token. */
export class Authorization implements OAuthClientProvider {
  readonly #settings: OAuthSettings
  readonly #store: TokenStore
  readonly #signIn: SignIn | undefined
  #verifier = ''
  /** How the server last refused a request. */
  refused: Refused | undefined
  readonly clientMetadataUrl?: string
  readonly addClientAuthentication?: AddClientAuthentication
  readonly validateResourceURL?: (serverUrl: string | URL) => Promise<URL>

  /** @param signIn undefined in a run: nobody is there */
  constructor(settings: OAuthSettings, store: TokenStore, signIn?: SignIn) {
    this.#settings = settings
    this.#store = store
    this.#signIn = signIn
    const { clientId, clientSecret, privateKey, clientMetadataUrl, resource } = settings
    if (clientSecret !== undefined) learnSecret(`secret of ${clientId}`, clientSecret)
    if (privateKey !== undefined) learnSecret(`key of ${clientId}`, privateKey)
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl
    if (resource !== undefined) this.validateResourceURL = () => Promise.resolve(new URL(resource))
    if (privateKey !== undefined && clientId !== undefined)
      this.addClientAuthentication = createPrivateKeyJwtAuth({
        ...{ issuer: clientId, subject: clientId, privateKey },
        alg: algorithmFor(privateKey),
      }) as AddClientAuthentication
  }

  /** Whether a token may be obtained, or is there. Without one, a server's refusal is told as it is. */
  get isPossible(): boolean {
    return this.#isAlone || this.#signIn !== undefined || this.#store.read().tokens !== undefined
  }

  get #isAlone(): boolean {
    return this.#settings.grant === 'client_credentials'
  }

  /** Without a URL, the SDK takes it that no person is needed. */
  get redirectUrl(): string | undefined {
    return this.#isAlone ? undefined : (this.#signIn?.redirectUrl ?? 'http://127.0.0.1/callback')
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scopes } = this.#settings
    return {
      client_name: 'Portcullis',
      redirect_uris: this.redirectUrl === undefined ? [] : [this.redirectUrl],
      grant_types: this.#isAlone ? ['client_credentials'] : ['authorization_code', 'refresh_token'],
      ...(this.#isAlone ? {} : { response_types: ['code'], token_endpoint_auth_method: 'none' }),
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    }
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    const { clientId, clientSecret, issuer } = this.#settings
    const { client } = this.#store.read()
    // A client that registered itself for another sign-in may not return to this one's port.
    if (clientId === undefined) return this.#signIn === undefined ? client : this.#registered
    const bound = issuer ?? (client?.client_id === clientId ? client.issuer : undefined)
    return {
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      ...(bound === undefined ? {} : { issuer: bound }),
    }
  }

  #registered: OAuthClientInformationMixed | undefined

  /** Of a configured client, only the authorization server that has accepted it is kept: its secret stays where it is. */
  saveClientInformation(client: OAuthClientInformationMixed): void {
    const { clientId } = this.#settings
    this.#registered = client
    const { issuer } = client
    this.#store.write({
      client: clientId === undefined ? client : { client_id: clientId, ...(issuer === undefined ? {} : { issuer }) },
    })
  }

  /** Whoever signs in wants a new token. */
  tokens(): OAuthTokens | undefined {
    return this.#signIn === undefined ? this.#store.read().tokens : this.#issued
  }

  #issued: OAuthTokens | undefined

  saveTokens(tokens: OAuthTokens): void {
    this.#issued = tokens
    this.#store.write({ tokens })
  }

  state(): string {
    return this.#signIn?.state ?? ''
  }

  redirectToAuthorization(url: URL): void {
    if (this.#signIn === undefined) throw new SignInNeededError('a person must sign in')
    const { scopes } = this.#settings
    // What the user asks for counts more than what the server would like.
    if (scopes.length > 0) url.searchParams.set('scope', scopes.join(' '))
    this.#signIn.open(url)
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  prepareTokenRequest(): URLSearchParams | undefined {
    if (!this.#isAlone) return undefined
    const { scopes } = this.#settings
    const scope = scopes.length > 0 ? scopes.join(' ') : this.refused?.scopes
    return new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) })
  }

  /** Notes how the server has refused a request. */
  note(answer: Response): void {
    const { status } = answer
    if (status === 401 || status === 403) this.refused = { status, scopes: extractWWWAuthenticateParams(answer).scope }
  }
}

function algorithmFor(pem: string): string {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = keyOf(pem)
  if (type === 'rsa') return 'RS256'
  const curves: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }
  const algorithm = type === 'ec' ? curves[details?.namedCurve ?? ''] : undefined
  if (algorithm !== undefined) return algorithm
  throw new UserError(
    'usage',
    `private_key_env_var: a key of the kind ${type} can't sign here: use RSA or an EC key on P-256`,
  )
}

function keyOf(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    const why = (error as Error).message
    throw new UserError('usage', `private_key_env_var: not a private key in PEM: ${why}`, { cause: error })
  }
}
