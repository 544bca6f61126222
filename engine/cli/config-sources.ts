import { instructionFiles } from '../app/own-instructions.ts'
import { join } from 'node:path'
import process from 'node:process'
import { hiddenFiles } from '../app/hidden-files.ts'
import { judgeSources, type ConfigSource } from '../app/judge-sources.ts'
import { sourceFiles, type SourceFile } from '../app/source-files.ts'
import { findRepository, findWorkspace } from '../app/workspace.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { findHome, findAppPaths } from '../core/app-paths.ts'
import { noMemory, readMemory } from '../memory/read-memory.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import { findConfiguration } from './doctor/find-configuration.ts'
import { print, printJson } from './print.ts'

/** `agent config sources`: lists every file that a run in this directory looks for, and whether the file is used. */
export async function configSources(options: ConfigOptions & { readonly json?: true }): Promise<number> {
  const workspace = findWorkspace(options.cd ?? process.cwd())
  const places = findAppPaths(process.env)
  const project = { root: findRepository(workspace) ?? workspace, workspace }
  const { config, facts, policies, extensions } = await findConfiguration(options, project, places)
  const isolated = options.isolated === true
  const hidden = policies === undefined ? undefined : hiddenFiles(config?.settings ?? {}, project.root, policies)
  const where = {
    user: places.config,
    home: findHome(process.env),
    ...project,
    ...instructionFiles(config?.settings ?? {}),
  }
  const profile: readonly SourceFile[] =
    options.profile !== undefined && /^[\w-]+$/.test(options.profile)
      ? [
          {
            path: join(places.config, `${options.profile}.config.toml`),
            what: 'settings',
            whose: 'user',
            program: 'portcullis',
          },
        ]
      : []
  const files = [...sourceFiles({ places, project, plugins: extensions?.plugins ?? [] }), ...profile]
  const sources = judgeSources(files, {
    isolated,
    trusted: facts.trust.trusted === true,
    imports: config?.settings.import ?? [],
    ignored: facts.ignored,
    faults: facts.faults,
    problems: facts.problems.flatMap((problem) => problem.split('\n')),
    memory: isolated ? noMemory : readMemory(where, hidden),
  })
  if (options.json === true) for (const source of sources) printJson(source)
  else print(...inWords(sources))
  return exitCodes.done
}

const headings: Readonly<Record<ConfigSource['whose'], string>> = {
  machine: 'The machine’s',
  user: 'Yours',
  plugin: 'Of plugins',
  repository: 'The repository’s',
}

function inWords(sources: readonly ConfigSource[]): readonly string[] {
  const width = Math.max(...sources.map(({ state }) => state.length))
  return Object.entries(headings).flatMap(([whose, heading]) => {
    const all = sources.filter((source) => source.whose === whose)
    const isThere = ({ state }: ConfigSource): boolean => state !== 'not there'
    const own = [...all.filter(isThere), ...all.filter((source) => !isThere(source))]
    return own.length === 0 ? [] : [heading, ...own.flatMap((source) => lines(source, width))]
  })
}

function lines({ path, what, state, why }: ConfigSource, width: number): readonly string[] {
  return [`  ${state.padEnd(width)}  ${path} (${what})`, ...why.map((reason) => `  ${' '.repeat(width)}    ${reason}`)]
}
