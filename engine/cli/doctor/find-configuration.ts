import { statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Config } from '../../config/load-config.ts'
import type { Ignored } from '../../config/ignored.ts'
import { readOwnFiles } from '../../config/read-files.ts'
import type { Project } from '../../config/read-project.ts'
import { isTrusted } from '../../config/is-trusted.ts'
import { findHome, type AppPaths } from '../../core/app-paths.ts'
import { readPolicies, type Policies } from '../../config/read-policies.ts'
import { UserError } from '../../core/user-error.ts'
import { configFiles } from '../../app/config-files.ts'
import type { ConfigOptions } from '../declare/config-options.ts'
import { readExtensions, type Extensions } from '../../app/read-extensions.ts'
import { loadRunConfig } from '../run-config.ts'
import type { ConfigurationFacts } from './configuration-rows.ts'

/**
 * Reads all configuration as a run would, in three steps: the settings; the rules with the permissions; the hooks with the servers and definitions. If a step
 * fails, the next one is still tried, so that the first error of each step is reported.
 *
 * @returns the findings; also the configuration, the rules with the permissions, and the extensions, each undefined if it can't be read
 */
export async function findConfiguration(
  options: ConfigOptions,
  project: Project,
  places: AppPaths,
): Promise<{
  readonly config: Config | undefined
  readonly policies: Policies | undefined
  readonly extensions: Extensions | undefined
  readonly facts: ConfigurationFacts
}> {
  const problems: string[] = []
  const home = findHome(process.env)
  const config = await orProblem(() => loadRunConfig(options, project.workspace, places), problems)
  const trusted = config?.trusted ?? trustOf(options, project, places)
  const rest = config ?? unreadable(trusted === true, options.isolated === true)
  const policies = await orProblem(() => readPolicies({ places, home, project, config: rest }), problems)
  const extensions = await orProblem(
    () => readExtensions({ places, home, project, config: rest, environment: process.env }),
    problems,
  )
  const definitions = extensions?.definitions ?? { skills: [], commands: [], agents: [], faults: [] }
  const files = configFiles({ places, home, project, definitions }).map(({ path }) => path)
  const ignored: readonly Ignored[] = [
    ...(config?.ignored ?? []),
    ...(policies?.ignored ?? []),
    ...(extensions?.ignored ?? []),
  ]
  return {
    config,
    policies,
    extensions,
    facts: {
      files: [...new Set(files)].filter(isFile),
      own: join(places.config, 'config.toml'),
      ignored,
      faults: [...definitions.faults, ...(extensions?.faults ?? [])],
      problems: [...new Set(problems)],
      trust: { root: project.root, trusted },
    },
  }
}

async function orProblem<T>(read: () => T | Promise<T>, problems: string[]): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    problems.push(error.message)
    return undefined
  }
}

/** Whether the repository is trusted. Undefined if the file that decides this can't be read. */
function trustOf(
  { profile, trust, isolated }: ConfigOptions,
  { root }: Project,
  places: AppPaths,
): boolean | undefined {
  if (isolated === true) return false
  try {
    return isTrusted(root, { ...readOwnFiles(places, profile).trust, flag: trust === true })
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/** Returns a configuration without settings, in place of one that can't be read, so that the other files can still be checked. */
function unreadable(trusted: boolean, isolated: boolean): Config {
  return {
    settings: {},
    trusted,
    isolated,
    ignoresRules: false,
    ignored: [],
    origins: new Map(),
    managed: {},
    modelVariables: {},
    permissions: [],
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    // A file that can't be read here can't be read by a run either.
    return false
  }
}
