import { holdOutput } from '../../sandbox/index.ts'
import { findAppPaths, findHome } from '../core/app-paths.ts'
import { maskRecord } from '../core/text/mask-record.ts'
import { maskSecrets } from '../core/text/mask-secrets.ts'
import { UserError } from '../core/user-error.ts'
import { Recorder } from '../run/recorder.ts'
import type { Telemetry } from '../telemetry/open-telemetry.ts'
import { telemetryOptions } from '../telemetry/telemetry-options.ts'
import { loadSettings } from './load-settings.ts'
import type { RunRequest } from './run-request.ts'

/** The telemetry of a run, and notices that tell the user about problems with the telemetry. */
type WatchedRun = { readonly telemetry: Telemetry; readonly notices: readonly string[] }

/**
 * Starts reporting a run to OpenTelemetry if the user asks for it; otherwise no telemetry code is loaded.
 *
 * @param configured the user's own `[otel]`
 * @returns undefined if the user doesn't ask for telemetry
 */
export async function watchRun(
  environment: RunRequest['environment'],
  configured: Parameters<typeof telemetryOptions>[1],
  home: string,
): Promise<WatchedRun | undefined> {
  const options = telemetryOptions(environment, configured)
  if (options === undefined) return undefined
  const { openTelemetry } = await import('../telemetry/open-telemetry.ts')
  const notices = options.notices.map((notice) => `Telemetry: ${notice}`)
  // The file is opened before any command runs. If a command later creates a file or link at this path, that file or link is replaced, and a link is
  // not followed.
  const file = options.file === undefined ? undefined : held(options.file.replace(/^~(?=$|\/)/, () => home))
  if (typeof file === 'string') notices.push(`Telemetry: ${options.file ?? ''} can't be written: ${file}`)
  const byName = maskSecrets(environment)
  const telemetry = openTelemetry(
    { ...options, file: typeof file === 'string' ? undefined : options.file },
    {
      mask: (text) => maskRecord(byName(text)),
      writeFile: (text) => typeof file === 'object' && file.write(text),
      environment,
    },
  )
  return { telemetry, notices }
}

/** Reports to telemetry that a run could not begin. Without this, telemetry would never show a run that fails at the start. Never throws. */
export async function tellFailedStart(request: RunRequest, error: unknown): Promise<void> {
  try {
    const { environment } = request
    const watched = await watchRun(environment, configuredTelemetry(request), findHome(environment))
    if (watched === undefined) return
    const reason = error instanceof UserError ? error.reason : 'failed'
    new Recorder([watched.telemetry.sink]).end(reason, (error as Error).message)
    for (const sentence of await watched.telemetry.close()) request.warn?.(sentence)
  } catch {
    // A failure to report is ignored, because the failure of the run itself matters more.
  }
}

/**
 * The telemetry configuration. Undefined if there is none or if the configuration is broken; then only environment variables decide whether and how
 * telemetry is sent.
 */
function configuredTelemetry({ settings, workspace, environment }: RunRequest): Parameters<typeof telemetryOptions>[1] {
  try {
    return loadSettings(settings ?? {}, workspace, findAppPaths(environment)).settings.otel
  } catch {
    return undefined
  }
}

/** Opens the file for telemetry, or returns the reason why it can't be opened. */
function held(path: string): ReturnType<typeof holdOutput> | string {
  try {
    return holdOutput(path)
  } catch (error) {
    return (error as Error).message
  }
}
