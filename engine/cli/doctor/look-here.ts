import process from 'node:process'
import { doctor, type DoctorReport } from '../../../sandbox/index.ts'
import { findRepository, findWorkspace } from '../../app/workspace.ts'
import { findAppPaths, stateFor } from '../../core/app-paths.ts'
import { exitCodes } from '../../core/exit-codes.ts'
import { sanitizeForTerminal } from '../../display/sanitize-for-terminal.ts'
import type { ConfigOptions } from '../declare/config-options.ts'
import { configurationRows } from './configuration-rows.ts'
import { credentialRows } from './credential-rows.ts'
import type { Row } from './doctor-row.ts'
import { findConfiguration } from './find-configuration.ts'
import { findGit } from './find-git.ts'
import { findModel } from './find-model.ts'
import { gitRows } from './git-rows.ts'
import { sandboxRow } from './sandbox-rows.ts'
import { stateRow } from './try-state.ts'

/** What was found about a run here. */
type Found = {
  readonly report: DoctorReport
  /** The row about the sandbox that the configuration asks for. It is one of `checks`. */
  readonly needed: Row
  readonly checks: readonly Row[]
}

/** Checks whether a run with these options would have what it needs. Sends nothing over the network. */
export async function lookHere(options: ConfigOptions & { readonly skipGitRepoCheck?: true }): Promise<Found> {
  const workspace = findWorkspace(options.cd ?? process.cwd())
  const places = findAppPaths(process.env)
  const root = findRepository(workspace)
  const { config, facts } = await findConfiguration(options, { root: root ?? workspace, workspace }, places)
  const report = await doctor()
  const needed = sandboxRow(report, config?.settings ?? {})
  const checks = sanitizeForTerminal([
    needed,
    ...(await findModel(options, config, workspace)),
    ...gitRows(await findGit({ root, workspace, anywhere: options.skipGitRepoCheck === true }, process.env)),
    ...configurationRows(facts),
    ...(await credentialRows(config?.settings ?? {}, process.env, workspace)),
    stateRow(stateFor([workspace], places.state)),
  ])
  return { report, needed, checks }
}

/** The exit code for what was found: 0 if nothing is missing, the one for an unavailable sandbox if that is missing, and otherwise 1. */
export function exitCodeOf(checks: readonly Row[], needed: Row): number {
  if (checks.every(({ state }) => state !== 'missing')) return exitCodes.done
  return needed.state === 'missing' ? exitCodes.sandboxUnavailable : exitCodes.failed
}
