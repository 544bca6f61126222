import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePolicy, type Sandbox, type SandboxPolicy } from '../../sandbox/index.ts'
import type { CommandVariables } from '../hooks/command-variables.ts'
import type { HookDependencies } from '../hooks/hooks.ts'
import type { Hook } from '../hooks/load-hooks.ts'
import { readPlainFile } from '../core/read-plain-file.ts'

type EnvFilesOptions = {
  /** The session's folder. */
  readonly directory: string
  readonly sandboxFor: (hook: Hook) => Promise<Sandbox>
  readonly open: (policy: SandboxPolicy) => Promise<Sandbox>
  readonly variables: CommandVariables
}

const maxBytes = 64 * 1024

/**
 * Creates the files to which hooks write variables for later commands. Each hook gets its own file, and can write to it in addition to the paths that its
 * sandbox makes writable. If the sandbox is read-only, the hook gets no such file.
 */
export function envFiles({
  directory,
  sandboxFor,
  open,
  variables,
}: EnvFilesOptions): NonNullable<HookDependencies['envFileFor']> {
  let made = 0
  return async (hook) => {
    const sandbox = await sandboxFor(hook)
    const { policy } = sandbox
    if (policy.mode === 'read-only') return undefined
    const path = join(directory, `hook-variables-${++made}.sh`)
    writeFileSync(path, '', { mode: 0o600 })
    const own =
      policy.mode === 'danger-full-access'
        ? undefined
        : await open(parsePolicy({ ...policy, writableFiles: [...policy.writableFiles, path] }))
    return {
      path,
      sandbox: own ?? sandbox,
      take: (name) => {
        const text = readPlainFile(path, maxBytes)
        return typeof text === 'string'
          ? variables.take(text, name)
          : [`The output of ${name} in ${path} can't be used: ${text.reason}.`]
      },
      close: async () => {
        await own?.close()
        rmSync(path, { force: true })
      },
    }
  }
}
