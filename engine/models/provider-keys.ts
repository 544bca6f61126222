import { hostPath, hostProgram, SandboxError, timerDelay } from '../../sandbox/index.ts'
import { ModelError } from '../core/model.ts'
import type { ModelProvider } from './provider-config.ts'

/** Fetches the key for the next request; undefined if no key is sent. Rejects with `ModelError` 'configuration' if the key can't be fetched. */
export type KeySource = () => Promise<string | undefined>

/**
 * Gets a key from a command that prints it, and caches the key until it is due for renewal. The command gets no input, and its output
 * appears in no message.
 */
export function keyFromCommand(
  label: string,
  auth: NonNullable<ModelProvider['auth']>,
  so: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): KeySource {
  let kept: { readonly key: string; readonly until: number } | undefined
  return async () => {
    if (kept !== undefined && Date.now() < kept.until) return kept.key
    const cwd = auth.cwd ?? so.cwd
    const cannot = (why: string): ModelError =>
      new ModelError('configuration', `Can't get the key for ${label} from the command '${auth.command}': ${why}.`)
    const program = programOf(auth.command, so.cwd, cwd, cannot)
    // Loaded only if a command provides the key, which is rare.
    const { execa } = await import('execa')
    const { stdout, timedOut, failed, exitCode, signal, code } = await execa(program, auth.args, {
      cwd,
      env: { ...so.env, PATH: hostPath([so.cwd], so.env['PATH']) },
      extendEnv: false,
      timeout: timerDelay(auth.timeout_ms),
      forceKillAfterDelay: 1000,
      stdin: 'ignore',
      reject: false,
    })
    if (timedOut) throw cannot(`it took longer than ${auth.timeout_ms} ms`)
    if (failed)
      throw cannot(
        `it failed with ${exitCode === undefined ? (signal ?? code ?? 'an error') : `exit code ${exitCode}`}`,
      )
    const key = stdout.trim()
    if (key === '') {
      throw new ModelError('configuration', `The command '${auth.command}' printed no key for ${label}.`)
    }
    checkHeader(`The key that '${auth.command}' printed for ${label}`, key)
    kept = { key, until: Date.now() + auth.refresh_interval_ms }
    return key
  }
}

/** Finds the program that prints the key. Never returns a program in the workspace, where commands of an earlier run could have put it. */
function programOf(name: string, workspace: string, from: string, cannot: (why: string) => ModelError): string {
  try {
    return hostProgram(name, [workspace], from)
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    throw cannot(error.message)
  }
}

/** Returns the headers that carry a key. */
export function keyHeaders(
  carrier: 'x-api-key' | 'authorization',
  key: string | undefined,
): Readonly<Record<string, string>> {
  if (key === undefined) return {}
  return carrier === 'x-api-key' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` }
}

/**
 * Throws `ModelError` 'configuration' if a value can't be sent in a header. `fetch` would reject it too, but its error quotes the value, which may be
 * a key, and looks like a broken connection.
 */
export function checkHeader(what: string, value: string): void {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return
  throw new ModelError(
    'configuration',
    `${what} contains a character that is not allowed in an HTTP header, such as a line break.`,
  )
}
