import { delimiter, isAbsolute, resolve } from 'node:path'
import process from 'node:process'
import { openSandbox, parsePolicy, SandboxError, type Sandbox, type SandboxPolicyInput } from '../../sandbox/index.ts'
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
  try {
    return await openSandbox(
      parsePolicy({
        mode: sandboxModeOf(options, config),
        workspace,
        writableRoots: config.sandbox_workspace_write?.writable_roots ?? [],
        network: networkPolicy(config),
        environment: {
          inherit: config.shell_environment_policy?.inherit,
          exclude: config.shell_environment_policy?.exclude,
          includeOnly: config.shell_environment_policy?.include_only,
          set: { ...trustedPath(options, config, workspace), ...config.shell_environment_policy?.set },
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

function networkPolicy({ sandbox_workspace_write: table }: ConfigFile): SandboxPolicyInput['network'] {
  if (table?.allowed_hosts !== undefined) return { mode: 'allowlist', allow: table.allowed_hosts }
  return { mode: table?.network_access === true ? 'full' : 'off' }
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
