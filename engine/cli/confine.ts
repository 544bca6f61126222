import { delimiter, isAbsolute, resolve } from 'node:path'
import process from 'node:process'
import { credentialPlaces, openSandbox, parsePolicy, SandboxError, type Sandbox } from '../../sandbox/index.ts'
import { configuredPolicy } from '../config/sandbox-policy.ts'
import type { ConfigFile } from '../config/schema.ts'
import { UserError } from '../user-error.ts'
import type { ExecOptions } from './declare/exec.ts'
import { approvalModeOf, sandboxModeOf } from './modes.ts'

/**
 * The sandbox for the whole run, opened before the first request.
 *
 * @throws UserError `sandboxUnavailable` where the policy can't be enforced here, `usage` where it makes no sense
 */
export async function confine(options: ExecOptions, config: ConfigFile, workspace: string): Promise<Sandbox> {
  const configured = configuredPolicy(config)
  try {
    return await openSandbox(
      parsePolicy({
        mode: sandboxModeOf(options, config),
        workspace,
        ...configured,
        deniedReads: [...credentialPlaces, ...configured.deniedReads],
        environment: {
          ...configured.environment,
          set: { ...trustedPath(options, config, workspace), ...configured.environment.set },
        },
      }),
    )
  } catch (error) {
    if (error instanceof SandboxError) {
      const reason = error.code === 'unavailable' ? 'sandboxUnavailable' : 'usage'
      throw new UserError(reason, error.message, { cause: error })
    }
    throw error
  }
}

/**
 * Where commands are looked for. In `untrusted`, what a bare name runs must not be up to the repository: a folder of the
 * workspace on the path could hold its own `ls`.
 */
function trustedPath(options: ExecOptions, config: ConfigFile, workspace: string): Readonly<Record<string, string>> {
  if (approvalModeOf(options, config) !== 'untrusted') return {}
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const trusted = folders.filter((folder) => isAbsolute(folder) && !`${resolve(folder)}/`.startsWith(`${workspace}/`))
  return { PATH: trusted.join(delimiter) }
}
