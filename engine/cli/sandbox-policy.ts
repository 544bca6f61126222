import { resolve } from 'node:path'
import { parsePolicy, SandboxError, type SandboxPolicy, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { UserError } from '../user-error.ts'
import type { SandboxOptions } from './declare/sandbox.ts'

/** What `--limit` may name, and how its value counts. */
const limits: Readonly<
  Record<string, { readonly field: keyof NonNullable<SandboxPolicyInput['limits']>; readonly unit: Unit }>
> = {
  time: { field: 'wallTimeMs', unit: 'seconds' },
  output: { field: 'outputBytes', unit: 'bytes' },
  processes: { field: 'processes', unit: 'count' },
  memory: { field: 'memoryBytes', unit: 'bytes' },
  'file-size': { field: 'fileSizeBytes', unit: 'bytes' },
  'open-files': { field: 'openFiles', unit: 'count' },
}

type Unit = 'seconds' | 'bytes' | 'count'

/**
 * The policy that the flags of `agent sandbox` describe. What they deny comes on top of what is always denied.
 *
 * @throws UserError `usage` naming the flag and what was expected
 */
export function policyFromOptions(options: SandboxOptions, workspace: string): SandboxPolicy {
  const always = parsePolicy({ mode: options.sandbox, workspace })
  const pass = options.env.filter((entry) => !entry.includes('='))
  const set = options.env.filter((entry) => entry.includes('=')).map(splitAtEquals)
  return checked({
    mode: options.sandbox,
    workspace,
    writableRoots: options.writable.map((path) => resolve(path)),
    readableRoots: options.readable.map((path) => resolve(path)),
    deniedReads: [
      ...always.deniedReads,
      ...options.denyRead.map((path) => (path.startsWith('~/') ? path : resolve(path))),
    ],
    network: networkOf(options),
    environment: { pass, set: Object.fromEntries(set) },
    limits: Object.fromEntries(options.limit.map(readLimit)),
  })
}

function networkOf({ network, allowHost }: SandboxOptions): SandboxPolicyInput['network'] {
  if (allowHost.length === 0) return { mode: network ?? 'off' }
  if (network !== undefined)
    throw new UserError('usage', `--allow-host contradicts --network ${network}: leave one of them out`)
  return { mode: 'allowlist', allow: [...allowHost] }
}

function checked(input: SandboxPolicyInput): SandboxPolicy {
  try {
    return parsePolicy(input)
  } catch (error) {
    if (error instanceof SandboxError) throw new UserError('usage', error.message, { cause: error })
    throw error
  }
}

function readLimit(entry: string): readonly [string, number] {
  const [name, value] = splitAtEquals(entry)
  const known = Object.hasOwn(limits, name) ? limits[name] : undefined
  if (known === undefined) {
    throw new UserError(
      'usage',
      `--limit ${entry}: expected one of ${Object.keys(limits).join(', ')}, e.g. memory=512M`,
    )
  }
  const match = /^(?<number>\d+)(?<scale>[KMG]?)$/i.exec(value)?.groups
  const scale = match?.['scale']?.toUpperCase() ?? ''
  if (match === undefined || (scale !== '' && known.unit !== 'bytes')) {
    const expected =
      known.unit === 'bytes' ? 'a number of bytes, with K, M or G behind it if you like' : `a number (${known.unit})`
    throw new UserError('usage', `--limit ${entry}: expected ${expected}`)
  }
  const factors: Readonly<Record<string, number>> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3 }
  const factor = known.unit === 'seconds' ? 1000 : (factors[scale] ?? 1)
  return [known.field, Number(match['number']) * factor]
}

function splitAtEquals(entry: string): readonly [string, string] {
  const at = entry.indexOf('=')
  return at === -1 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)]
}
