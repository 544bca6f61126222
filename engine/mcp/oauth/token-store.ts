import { createHash } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import * as z from 'zod'
import { makeDirectories, readHostFile } from '../../../sandbox/index.ts'
import { learnSecret } from '../../core/text/mask-secrets.ts'
import { UserError } from '../../core/user-error.ts'
import type { OAuthSettings } from './oauth-settings.ts'

const text = z.string()
const Tokens = z.looseObject({
  access_token: text,
  token_type: text,
  expires_in: z.number().optional(),
  refresh_token: text.optional(),
  scope: text.optional(),
  issuer: text.optional(),
})
const ClientInformation = z.looseObject({
  client_id: text,
  client_secret: text.optional(),
  issuer: text.optional(),
})
const Stored = z.strictObject({
  /** For whoever reads the file; the file's name decides which server it is for. */
  server: text,
  tokens: Tokens.optional(),
  /** What the client is called, and by which authorization server. */
  client: ClientInformation.optional(),
})

type Stored = { readonly tokens?: OAuthTokens | undefined; readonly client?: OAuthClientInformationMixed | undefined }

/**
 * The tokens of one server, in a file that only the user can read. The file is read each time, because other processes renew tokens too. A server at another URL, or
 * another client, has other tokens.
 */
export class TokenStore {
  readonly #folder: string
  readonly #path: string
  readonly #name: string
  readonly #server: string

  constructor(folder: string, name: string, url: URL, { grant, clientId }: Pick<OAuthSettings, 'grant' | 'clientId'>) {
    const identity = JSON.stringify([name, url.href, grant, clientId ?? null])
    this.#folder = folder
    this.#path = join(folder, `${createHash('sha256').update(identity).digest('hex').slice(0, 32)}.json`)
    this.#name = name
    this.#server = `${name} ${url.origin}${url.pathname}`
  }

  /** What is stored; nothing if that isn't what this program writes. */
  read(): Stored {
    const bytes = readHostFile(this.#path)
    if (bytes === undefined) return {}
    const { data = {} } = Stored.safeParse(jsonOf(bytes.toString('utf8')))
    const { tokens, client }: Partial<z.infer<typeof Stored>> = data
    this.#learn(tokens)
    return { tokens, client: client as OAuthClientInformationMixed | undefined }
  }

  /** Replaces a part of what is stored. */
  write(part: Stored): void {
    this.#learn(part.tokens)
    const { tokens, client } = { ...this.read(), ...part }
    const temporary = `${this.#path}.${process.pid}.tmp`
    try {
      makeDirectories(this.#folder)
      writeFileSync(temporary, JSON.stringify({ server: this.#server, tokens, client }), { mode: 0o600, flag: 'wx' })
      renameSync(temporary, this.#path)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw new UserError('usage', `${this.#path} can't be written: ${(error as Error).message}`, { cause: error })
    }
  }

  #learn(tokens: Stored['tokens']): void {
    if (tokens === undefined) return
    const name = `token of ${this.#name}`
    learnSecret(name, tokens.access_token)
    if (tokens.refresh_token !== undefined) learnSecret(name, tokens.refresh_token)
  }
}

/** Forgets the tokens of the servers of this name. Returns whether there were any. */
export function forgetTokens(folder: string, name: string): boolean {
  const files = existsSync(folder) ? readdirSync(folder).map((entry) => join(folder, entry)) : []
  const its = files.filter((file) => {
    const { data } = Stored.safeParse(jsonOf(readHostFile(file)?.toString('utf8') ?? ''))
    return data?.server.startsWith(`${name} `) === true
  })
  for (const file of its) rmSync(file, { force: true })
  return its.length > 0
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
