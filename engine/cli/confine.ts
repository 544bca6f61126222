import { delimiter, isAbsolute, resolve } from 'node:path'
import process from 'node:process'
import { credentialPlaces, openSandbox, parsePolicy, SandboxError, type Sandbox } from '../../sandbox/index.ts'
import { configuredPolicy } from '../config/sandbox-policy.ts'
import type { ConfigFile } from '../config/schema.ts'
import { UserError } from '../user-error.ts'
import type { ExecOptions } from './declare/exec.ts'
import { dockerByConfig, explainNoSandbox } from './no-sandbox.ts'
import { approvalModeOf, sandboxModeOf } from './modes.ts'

/**
 * The sandbox for the whole run, opened before the first request.
 *
 * @throws UserError `sandboxUnavailable` where the policy can't be enforced here, `usage` where it makes no sense
 */
export async function confine(options: ExecOptions, config: ConfigFile, workspace: string): Promise<Sandbox> {
  const configured = configuredPolicy(config)
  const mode = sandboxModeOf(options, config)
  const chosen = mode === 'danger-full-access' ? undefined : config.sandbox_backend
  const backend = options.externallySandboxed === true ? 'external' : chosen
  try {
    return await openSandbox(
      parsePolicy({
        mode,
        workspace,
        ...configured,
        writableRoots: [...configured.writableRoots, ...(options.addDir ?? []).map((directory) => resolve(directory))],
        deniedReads: [...credentialPlaces, ...configured.deniedReads],
        environment: {
          ...configured.environment,
          set: { ...trustedPath(options, config, workspace), ...configured.environment.set },
        },
      }),
      { backend, image: config.sandbox_image },
    )
  } catch (error) {
    if (error instanceof SandboxError) {
      if (!SandboxError.is(error, 'unavailable')) throw new UserError('usage', error.message, { cause: error })
      throw new UserError('sandboxUnavailable', await explainNoSandbox(error, dockerByConfig), { cause: error })
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
