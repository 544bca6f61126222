import type { DoctorReport } from '../../../sandbox/index.ts'
import { sandboxModeOf } from '../../app/modes.ts'
import type { Settings } from '../../config/settings-schema.ts'
import type { Row } from './doctor-row.ts'

/** Returns the row that says whether the configured sandbox is available. */
export function sandboxRow(report: DoctorReport, settings: Settings): Row {
  const row = { group: 'sandbox', check: 'this configuration' } as const
  const mode = sandboxModeOf(settings)
  if (mode === 'danger-full-access') {
    return { ...row, state: 'note', found: 'commands run unconfined (danger-full-access)' }
  }
  const { sandbox_backend: wanted } = settings
  const backend = wanted ?? report.preferred
  const found = report.backends.find((each) => each.backend === backend)
  if (found?.usable === true) return { ...row, state: 'ok', found: `${mode}, by ${found.backend}` }
  const [why, next] = found?.usable === false ? [`: ${found.reason}`, found.remedy] : ['', undefined]
  return {
    ...row,
    state: 'missing',
    found: `${mode} can't be enforced, because ${backend} can't be used${why}`,
    ...(next === undefined ? {} : { next }),
  }
}
