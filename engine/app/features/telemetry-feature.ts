import { refusalOfVariable } from '../../../sandbox/index.ts'
import { wrapModel } from '../../core/model.ts'
import { watchRun } from '../watch-run.ts'
import type { Contribution, Feature, Opened } from '../feature.ts'

/** Reports the run to an OpenTelemetry collector if the user asks for it; otherwise no telemetry code is loaded. */
export const telemetryFeature: Feature = { name: 'telemetry', open: openFeature }

async function openFeature({ request, settings, sandbox, closing, home }: Opened): Promise<Contribution> {
  const watched = await watchRun(request.environment, settings.otel, home)
  if (watched === undefined) return {}
  const { telemetry, notices } = watched
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
