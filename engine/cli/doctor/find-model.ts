import process from 'node:process'
import { hostProgram, SandboxError } from '../../../sandbox/index.ts'
import { defaultModel } from '../../config/defaults.ts'
import type { Config } from '../../config/load-config.ts'
import { inspectNamed } from '../../app/choose-model.ts'
import type { ConfigOptions } from '../declare/config-options.ts'
import { modelRows } from './model-rows.ts'
import type { Row } from './doctor-row.ts'

/**
 * Examines the model that a new run here would use, and its fallbacks.
 *
 * @param config the configuration; undefined if it can't be read
 */
export async function findModel(
  options: ConfigOptions,
  config: Config | undefined,
  workspace: string,
): Promise<readonly Row[]> {
  if (config === undefined) return modelRows('', undefined, undefined)
  const { settings, managed, modelVariables } = config
  const name = options.model ?? managed.model ?? settings.model ?? defaultModel
  const names = [name, ...(settings.fallback_models ?? [])]
  const rows = await Promise.all(
    names.map(async (each) => {
      const finding = await inspectNamed(each, {
        settings,
        workspace,
        environment: { ...modelVariables, ...process.env },
        from: process.cwd(),
      })
      const command = finding.kind === 'provider' && finding.key.kind === 'command' ? finding.key.command : undefined
      return modelRows(each, finding, command === undefined ? undefined : programOf(command, workspace))
    }),
  )
  return rows.flat()
}

function programOf(command: string, workspace: string): string | undefined {
  try {
    return hostProgram(command, [workspace], workspace)
  } catch (error) {
    if (SandboxError.is(error, 'missing-program')) return undefined
    throw error
  }
}
