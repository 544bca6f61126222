import { join } from 'node:path'
import { homeDirectory, insideAddress, readNamedFile, type Credential } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import { credentialPresets, presetNamed } from './credential-presets.ts'
import { noCredentials, type OpenCredentials } from './no-credentials.ts'
import { checkoutToken } from './checkout-token.ts'
import { makeStandIn } from './stand-in.ts'
import type { Settings } from './settings-schema.ts'

type Table = NonNullable<Settings['credentials']>[string]

/** Adds the names of `--credential` to the configured credentials. @throws UserError `usage` for a name that is neither configured nor a preset */
export function addCredentials(
  configured: Settings['credentials'] = {},
  given: readonly string[],
): NonNullable<Settings['credentials']> {
  return Object.fromEntries(
    given.map((name) => {
      if (presetNamed(name) !== undefined) return [name, { preset: name as keyof typeof credentialPresets }]
      const table = configured[name]
      if (table !== undefined) return [name, table]
      const known = [...new Set([...Object.keys(configured), ...Object.keys(credentialPresets)])].join(', ')
      throw new UserError(
        'usage',
        `--credential ${JSON.stringify(name)}: must be one of ${known}, or a table credentials.${name} in your own config.toml`,
      )
    }),
  )
}

/**
 * Reads the values of the configured credentials, and makes a stand-in for each.
 *
 * @param environment this program's own environment
 * @param workspace where `actions/checkout` may have left the job's token
 * @throws UserError `usage` naming the credential, if it is incomplete or has no value
 */
export async function openCredentials(
  { credentials = {} }: Pick<Settings, 'credentials'>,
  environment: Readonly<NodeJS.ProcessEnv>,
  workspace: string,
): Promise<OpenCredentials> {
  const names = Object.keys(credentials)
  if (names.length === 0) return noCredentials
  const values = new Map<string, string>()
  const policy: Credential[] = []
  let set: Record<string, string> = {}
  const secrets: { name: string; value: string }[] = []
  for (const [name, table] of Object.entries(credentials)) {
    const preset = presetNamed(table.preset)
    const credential = credentialOf(name, table)
    const value = checked(name, await valueOf(name, table, environment, workspace))
    const standIn = makeStandIn(
      value,
      preset?.prefixes ?? Object.values(credentialPresets).flatMap(({ prefixes }) => prefixes),
    )
    const [first, ...more] = credential.hosts.map(insideAddress)
    values.set(name, value)
    policy.push(credential)
    const own = table.from !== undefined && 'env' in table.from ? { [table.from.env]: standIn } : {}
    set = { ...set, ...(first === undefined ? {} : preset?.variables(standIn, [first, ...more])), ...own }
    secrets.push({ name: `CREDENTIAL ${name}`, value }, { name: `STAND-IN ${name}`, value: standIn })
  }
  const exclude = Object.entries(environment).flatMap(([name, text = '']) =>
    [...values.values()].some((value) => text.includes(value)) ? [name] : [],
  )
  return { policy, set, exclude, secrets, secretOf: (name) => values.get(name) }
}

/** What the policy says of a credential. */
function credentialOf(name: string, table: Table): Credential {
  const preset = presetNamed(table.preset)
  const [hosts, as] = [table.for ?? preset?.for, table.as ?? preset?.as]
  if (hosts === undefined || as === undefined) {
    throw new UserError(
      'usage',
      `credentials.${name}: must have "for" (hosts) and "as" (git, bearer, basic or header), or a preset`,
    )
  }
  const [user, header] = [table.user ?? preset?.user, table.header ?? preset?.header]
  return {
    ...{ name, hosts: [...hosts], as, allow: [...(table.allow ?? preset?.allow ?? [])] },
    ...(user === undefined ? {} : { user }),
    ...(header === undefined ? {} : { header }),
  }
}

async function valueOf(
  name: string,
  { from, preset }: Table,
  environment: Readonly<NodeJS.ProcessEnv>,
  workspace: string,
): Promise<string | undefined> {
  if (from === undefined) {
    const variables = presetNamed(preset)?.from ?? []
    const found = variables
      .map((variable) => environment[variable])
      .find((value) => value !== undefined && value !== '')
    return found ?? (preset === 'github' ? checkoutToken(workspace) : undefined)
  }
  if ('env' in from) return environment[from.env]
  const cannot = (error: unknown): never => {
    if (!(error instanceof Error)) throw error
    throw new UserError('usage', `credentials.${name}.from: ${error.message}`, { cause: error })
  }
  if ('command' in from) {
    const { keyFromCommand } = await import('../models/provider-keys.ts')
    const [command = '', ...args] = from.command
    const auth = { command, args, timeout_ms: 60_000, refresh_interval_ms: 0 }
    return keyFromCommand(`credentials.${name}`, auth, { cwd: workspace, env: environment })().catch(cannot)
  }
  try {
    return readNamedFile(expandTilde(from.file), { follow: true }).toString()
  } catch (error) {
    return cannot(
      error instanceof Error ? new Error(`${from.file} can't be read: ${error.message}`, { cause: error }) : error,
    )
  }
}

function expandTilde(path: string): string {
  return path.startsWith('~/') ? join(homeDirectory(), path.slice(2)) : path
}

function checked(name: string, value: string | undefined): string {
  const text = value?.trim() ?? ''
  if (text === '')
    throw new UserError(
      'usage',
      `credentials.${name}: there is no value. Set the variable, file or command that "from" names`,
    )
  // Shorter values can't be told from ordinary words when they are masked.
  if (text.length < 8) throw new UserError('usage', `credentials.${name}: the value must have at least 8 characters`)
  if (/[^\x21-\x7e]/.test(text)) {
    throw new UserError('usage', `credentials.${name}: the value must be one line of ASCII characters without spaces`)
  }
  return text
}
