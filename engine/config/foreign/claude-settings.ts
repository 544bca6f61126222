import { join } from 'node:path'
import * as z from 'zod'
import { looksLikeSecret } from '../../../sandbox/index.ts'
import { directoriesBetween } from '../../core/directories-between.ts'
import { newestOf } from '../../models/index.ts'
import { ignoredForFault, ignoredWhole, ignoring, type Ignored } from '../ignored.ts'
import type { Layer } from '../merge-layers.ts'
import type { Project } from '../read-project.ts'
import type { Settings } from '../settings-schema.ts'
import { installedPlugins } from './claude-plugins.ts'
import { parseForeignJson } from './parse-json.ts'
import { readForeignText } from './read-text.ts'

/**
 * The parts of Claude Code's settings that this module uses. Permissions and hooks are read by other modules
 * (https://code.claude.com/docs/en/settings).
 */
const ClaudeSettings = z.looseObject({
  model: z.string().min(1).optional().catch(undefined),
  env: z.record(z.string(), z.unknown()).optional().catch(undefined),
  enabledPlugins: z.record(z.string(), z.unknown()).optional().catch(undefined),
})

/** Keys of Claude Code's settings that need no notice although they aren't read here: other parts of this program read them, or they set nothing. */
const readElsewhere: ReadonlySet<string> = new Set(['$schema', 'permissions', 'hooks'])
const readHere: ReadonlySet<string> = new Set(['model', 'env', 'enabledPlugins'])

/** Matches the names of variables that configure agents or models (such as a provider's address or key), or that say where a user's files are. */
const steering = /^(?:CODEX|PORTCULLIS|CLAUDE|OPENAI|ANTHROPIC|XDG)_|^HOME$/
/** Matches the names of variables for model requests, such as a provider's address or key. Commands never get them. */
const ofModels = /^(?:ANTHROPIC|OPENAI)_/

/** Matches the names of variables that can make programs load code from elsewhere. A repository must not set them. */
const loading = /^(?:PATH|ENV|BASH_ENV|NODE_OPTIONS|PYTHON\w+|PERL5\w+|RUBY(?:OPT|LIB)|(?:LD|DYLD|GIT)_\w+)$/

/** What is imported from Claude Code's settings. */
type ClaudeImport = {
  readonly layers: readonly Layer[]
  /** Variables for model requests. Commands never get them. */
  readonly modelVariables: Readonly<Record<string, string>>
  readonly ignored: readonly Ignored[]
}

/** The path of the user's Claude Code settings. */
export function claudeSettingsFile(home: string): string {
  return join(home, '.claude', 'settings.json')
}

/** The paths of a repository's Claude Code settings, beginning with the settings in the repository's root. */
export function claudeProjectFiles({ root, workspace }: Project): readonly string[] {
  return directoriesBetween(root, workspace).flatMap((directory) =>
    ['settings.json', 'settings.local.json'].map((name) => join(directory, '.claude', name)),
  )
}

/** Imports `model`, `env` and `enabledPlugins` from the user's settings for Claude Code. Never fails, whatever the file contains. */
export function importClaudeSettings(home: string, project: Project): ClaudeImport {
  return importFile({ path: claudeSettingsFile(home), kind: 'imported', within: undefined, home, project })
}

/**
 * Imports `model`, `env` and `enabledPlugins` from a trusted repository's settings for Claude Code. The addresses and keys of models are not
 * imported, nor are plugins that the user hasn't installed. Never fails, whatever the files contain.
 */
export function importClaudeProject(home: string, project: Project): ClaudeImport {
  const each = claudeProjectFiles(project).map((path) =>
    importFile({ path, kind: 'project', within: project.root, home, project }),
  )
  return {
    layers: each.flatMap(({ layers }) => layers),
    modelVariables: {},
    ignored: each.flatMap(({ ignored }) => ignored),
  }
}

type ClaudeFile = {
  readonly path: string
  readonly kind: 'imported' | 'project'
  readonly within: string | undefined
  readonly home: string
  readonly project: Project
}

function importFile({ path, kind, within, home, project }: ClaudeFile): ClaudeImport {
  const text = readForeignText(path, { within })
  if (text === undefined) return { layers: [], modelVariables: {}, ignored: [] }
  const parsed = typeof text === 'string' ? parseForeignJson(text, path) : text
  if ('reason' in parsed) return { layers: [], modelVariables: {}, ignored: [ignoredForFault(path, parsed.reason)] }
  const file = ClaudeSettings.safeParse(parsed.value)
  if (!file.success) {
    const ignored = [ignoredWhole(path, 'the settings are not an object')]
    return { layers: [], modelVariables: {}, ignored }
  }
  const model = file.data.model === undefined ? undefined : modelOf(file.data.model)
  const { forCommands, forModels, refused } = variablesOf(file.data.env ?? {}, kind)
  const plugins = installedPlugins(file.data.enabledPlugins ?? {}, home, project, path)
  const settings: Settings = {
    ...(model === undefined ? {} : { model }),
    ...(Object.keys(forCommands).length === 0 ? {} : { shell_environment_policy: { set: forCommands } }),
    ...(Object.keys(plugins.tables).length === 0 ? {} : { plugins: plugins.tables }),
  }
  const others = Object.keys(parsed.value as object).filter((key) => !readElsewhere.has(key) && !readHere.has(key))
  const unused = file.data.model !== undefined && model === undefined ? ['model'] : []
  return {
    layers:
      Object.keys(settings).length === 0
        ? []
        : [{ name: path, text: typeof text === 'string' ? text : '', kind, settings }],
    modelVariables: forModels,
    ignored: [
      ...ignoring(path, [...unused, ...others], 'Claude Code has this setting, but Portcullis does not'),
      ...ignoring(
        path,
        refused.map((name) => `env.${name}`),
        'this file sets only valid variables that neither look like secrets nor redirect programs; to set others, use shell_environment_policy.set',
      ),
      ...plugins.ignored,
    ],
  }
}

/**
 * Translates a model's name. A family name such as `opus` becomes the newest model of the family; a suffix `[1m]` is removed. Undefined for a name
 * that leaves the choice to Claude Code, such as `default`.
 */
export function modelOf(name: string): string | undefined {
  const plain = name.replace(/\[1m\]$/i, '')
  if (/^(?:default|best|opusplan|inherit)$/.test(plain)) return undefined
  return newestOf(plain) ?? plain
}

function variablesOf(env: Readonly<Record<string, unknown>>, kind: ClaudeFile['kind']) {
  const forCommands: [string, string][] = []
  const forModels: [string, string][] = []
  const refused: string[] = []
  for (const [name, given] of Object.entries(env)) {
    const value = typeof given === 'number' || typeof given === 'boolean' ? `${given}` : given
    if (typeof value !== 'string' || !/^[A-Za-z_]\w*$/.test(name)) refused.push(name)
    else if (kind === 'imported' && ofModels.test(name)) forModels.push([name, value])
    else if (steering.test(name) || looksLikeSecret(name, value)) refused.push(name)
    else if (kind === 'project' && loading.test(name)) refused.push(name)
    else forCommands.push([name, value])
  }
  return { forCommands: Object.fromEntries(forCommands), forModels: Object.fromEntries(forModels), refused }
}
