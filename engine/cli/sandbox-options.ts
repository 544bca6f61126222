import type { NamedBackend } from '../../sandbox/index.ts'
import type { sandboxModes } from './declare/shared-options.ts'

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
  readonly denyRead: readonly string[]
  readonly network?: 'off' | 'full'
  readonly allowHost: readonly string[]
  readonly allowPrivateHost: readonly string[]
  readonly service: readonly string[]
  readonly env: readonly string[]
  readonly limit: readonly string[]
  readonly allowUnixSockets?: true
  readonly dangerouslyMountDockerSocket?: true
  readonly json?: true
}
