import process from 'node:process'
import { ActionError, command, input } from '../shared/runner.ts'

/** A token for a provider, and the variable from which the engine reads it. */
type Key = { readonly variable: string; readonly token: string }

type Exchange = {
  readonly audience: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: (identityToken: string) => Readonly<Record<string, string>>
  readonly variable: string
}

const longestWait = 30_000

/**
 * Exchanges a signed token from GitHub that states the job's identity (`id-token: write`) for a short-lived token of the model's provider. The
 * workflow therefore needs no stored key. The engine gets only the provider's token, and commands get neither.
 *
 * @returns undefined if the input `identity` isn't given
 * @throws ActionError if the input is invalid, or if GitHub or the provider doesn't issue its token
 */
export async function exchangeIdentity(): Promise<Key | undefined> {
  const text = input('identity')
  if (text === '') return undefined
  const { audience, url, headers, body, variable } = exchangeOf(fieldsOf(text))
  const identityToken = await askGitHub(audience)
  command('add-mask', identityToken)
  const answer = await ask('The provider', url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body(identityToken)),
  })
  const token = answer['access_token']
  if (typeof token !== 'string' || token === '') throw new ActionError('The provider answered without an access token.')
  command('add-mask', token)
  return { variable, token }
}

function fieldsOf(text: string): Readonly<Record<string, string>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const fields = isObject ? Object.entries(value as object) : []
  if (!isObject || fields.some(([, each]) => typeof each !== 'string')) {
    throw new ActionError(`The input 'identity' must be a JSON object of strings, such as {"provider":"anthropic",…}.`)
  }
  return Object.fromEntries(fields) as Record<string, string>
}

/**
 * Returns the request that exchanges the job's identity for a provider's token. The providers' SDKs send the same requests (Anthropic:
 * lib/credentials/oidc-federation, OpenAI: auth/workload-identity-auth).
 */
function exchangeOf(fields: Readonly<Record<string, string>>): Exchange {
  const need = (name: string): string => {
    const value = fields[name]
    if (value !== undefined && value !== '') return value
    throw new ActionError(
      `The input 'identity' lacks "${name}", which ${fields['provider'] ?? 'every provider'} requires.`,
    )
  }
  const optional = (name: string): Readonly<Record<string, string>> =>
    fields[name] === undefined ? {} : { [name]: fields[name] }
  switch (need('provider')) {
    case 'anthropic': {
      const fixed = {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        federation_rule_id: need('federation_rule_id'),
        organization_id: need('organization_id'),
        ...optional('service_account_id'),
        ...optional('workspace_id'),
      }
      return {
        audience: fields['audience'] ?? 'https://api.anthropic.com',
        url: fields['token_url'] ?? 'https://api.anthropic.com/v1/oauth/token',
        headers: { 'anthropic-beta': 'oauth-2025-04-20,oidc-federation-2026-04-01' },
        body: (assertion) => ({ ...fixed, assertion }),
        variable: 'ANTHROPIC_AUTH_TOKEN',
      }
    }
    case 'openai': {
      const fixed = {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        identity_provider_id: need('identity_provider_id'),
        service_account_id: need('service_account_id'),
        ...optional('client_id'),
      }
      return {
        audience: fields['audience'] ?? 'https://api.openai.com/v1',
        url: fields['token_url'] ?? 'https://auth.openai.com/oauth/token',
        headers: {},
        body: (subjectToken) => ({ ...fixed, subject_token: subjectToken }),
        variable: 'OPENAI_API_KEY',
      }
    }
    default:
      throw new ActionError(`The input 'identity' names a provider that is neither "anthropic" nor "openai".`)
  }
}

async function askGitHub(audience: string): Promise<string> {
  const [url, token] = [process.env['ACTIONS_ID_TOKEN_REQUEST_URL'], process.env['ACTIONS_ID_TOKEN_REQUEST_TOKEN']]
  if (url === undefined || token === undefined) {
    throw new ActionError(
      "The job is not allowed to request its identity token: add 'id-token: write' to its permissions.",
    )
  }
  const asked = new URL(url)
  asked.searchParams.set('audience', audience)
  const { value } = await ask('GitHub', asked.href, { headers: { authorization: `Bearer ${token}` } })
  if (typeof value !== 'string' || value === '') throw new ActionError("GitHub's answer has no identity token.")
  return value
}

/**
 * Sends a request for a token. Redirects aren't followed, because they could send a token elsewhere. The answer to a refused request isn't shown, because it
 * may repeat the token.
 */
async function ask(who: string, url: string, init: RequestInit): Promise<Readonly<Record<string, unknown>>> {
  const { protocol, hostname, host } = new URL(url)
  if (protocol !== 'https:' && hostname !== '127.0.0.1')
    throw new ActionError(`Tokens are sent only over HTTPS, but the address of ${host} uses another protocol.`)
  let response: Response
  try {
    response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(longestWait) })
  } catch {
    throw new ActionError(`${who} can't be reached at ${host} to get a token.`)
  }
  if (!response.ok) {
    throw new ActionError(
      `${who} refused to issue a token (status ${response.status}). Does the provider's federation rule match this repository, branch and event?`,
    )
  }
  const answer: unknown = await response.json().catch(() => undefined)
  if (typeof answer !== 'object' || answer === null)
    throw new ActionError(`The answer from ${who} (${host}) is not a JSON object.`)
  return answer as Record<string, unknown>
}
