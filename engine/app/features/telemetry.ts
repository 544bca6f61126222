import { holdOutput, refusalOfVariable } from '../../../sandbox/index.ts'
import { wrapModel } from '../../core/model.ts'
import { maskRecord } from '../../core/text/mask-record.ts'
import { maskSecrets } from '../../core/text/mask-secrets.ts'
import { telemetryOptions } from '../../telemetry/telemetry-options.ts'
import type { Contribution, Feature, Opened } from '../feature.ts'

/** Reports the run to an OpenTelemetry collector where the user asks for it; otherwise nothing of it is loaded. */
export const telemetryFeature: Feature = { name: 'telemetry', open: openFeature }

async function openFeature({ request, settings, sandbox, closing, home }: Opened): Promise<Contribution> {
  const options = telemetryOptions(request.environment, settings.otel)
  if (options === undefined) return {}
  const { openTelemetry } = await import('../../telemetry/open-telemetry.ts')
  const notices = options.notices.map((notice) => `Telemetry: ${notice}`)
  // Before any command runs: what one puts there is replaced, not followed.
  const file = options.file === undefined ? undefined : held(options.file.replace(/^~(?=$|\/)/, () => home))
  if (typeof file === 'string') notices.push(`Telemetry: ${options.file ?? ''} can't be written: ${file}`)
  const byName = maskSecrets(request.environment)
  const telemetry = openTelemetry(
    { ...options, file: typeof file === 'string' ? undefined : options.file },
    {
      mask: (text) => maskRecord(byName(text)),
      writeFile: (text) => typeof file === 'object' && file.write(text),
    },
  )
  closing.add(async () => {
    for (const sentence of await telemetry.close()) request.warn?.(sentence)
  })
  const variables = Object.fromEntries(
    Object.entries(telemetry.variables).filter(
      ([name, value]) => refusalOfVariable(sandbox.policy.environment, name, value) === undefined,
    ),
  )
  return {
    notices,
    sinks: [telemetry.sink],
    options: { variables: () => variables },
    wrapModel: (model) =>
      wrapModel(
        model,
        telemetry.wrapRespond(
          () => model.name,
          (asked, signal) => model.respond(asked, signal),
        ),
      ),
  }
}

/** Where the file is written, or why it can't be. */
function held(path: string): ReturnType<typeof holdOutput> | string {
  try {
    return holdOutput(path)
  } catch (error) {
    return (error as Error).message
  }
}
