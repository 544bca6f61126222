import type { NamedBackend } from '../../sandbox/index.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { TransactionReport } from '../core/run-summary.ts'
import type { sandboxModes } from './declare/shared-options.ts'
import type { viewHows } from './exec-options.ts'

/** The values of the option that decides when the changes of one command land. */
export const commandLandings = ['each', 'on-success', 'never'] as const

/** The options of `agent sandbox`. */
export type SandboxOptions = {
  readonly sandbox?: (typeof sandboxModes)[number]
  readonly cd?: string
  readonly config: readonly string[]
  readonly backend?: NamedBackend
  readonly image?: string
  readonly externallySandboxed?: true
  readonly writable: readonly string[]
  readonly readable: readonly string[]
  readonly allowRead: readonly string[]
  readonly denyRead: readonly string[]
  readonly openHome?: true
  readonly network?: 'off' | 'full'
  readonly allowHost: readonly string[]
  readonly allowPrivateHost: readonly string[]
  readonly service: readonly string[]
  readonly credential: readonly string[]
  readonly env: readonly string[]
  readonly limit: readonly string[]
  readonly allowUnixSockets?: true
  readonly dangerouslyMountDockerSocket?: true
  readonly view?: (typeof viewHows)[number]
  readonly inPlace?: true
  readonly land?: (typeof commandLandings)[number]
  readonly json?: true
}

/** A command, and what the user said about it. */
export type Commanded = {
  readonly argv: readonly [string, ...string[]]
  readonly options: SandboxOptions
  readonly config: Settings
  readonly workspace: string
}

/** What landed, for a program and for a person. `code`: the exit code if the command itself succeeded. */
export type CommandLanding = {
  readonly report: TransactionReport
  readonly lines: readonly string[]
  readonly code: number
}
