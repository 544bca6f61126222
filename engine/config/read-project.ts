import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { directoriesBetween, isInside } from '../core/directories-between.ts'
import { readPlainFile } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'
import { ignoredWhole, ignoring, type Ignored } from './ignored.ts'
import { keyOf, leavesOf } from './leaves.ts'
import type { Layer } from './merge-layers.ts'
import { ConfigFile } from './settings-schema.ts'
import { userOnlyKeys, userOnly as userOnlySettings } from './settings/index.ts'
import { parseToml, tryParseToml } from './toml.ts'
import { validate } from './validate.ts'

/** A repository, and the working directory in it. Both are real paths. */
export type Project = {
  /** The repository's root; outside a repository, the workspace itself. */
  readonly root: string
  readonly workspace: string
}

/**
 * The path of a repository's configuration file, relative to the directory that contains it. Any directory from the root down to the workspace may
 * contain one.
 */
const fileName = '.portcullis/config.toml'
/** The size limit for a configuration file, in bytes. */
const maxBytes = 256 * 1024
/** Keys that a repository's file can't set. */
const userOnly: readonly string[] = ['profile', 'profiles', 'projects', ...userOnlySettings]

/**
 * Reads the configuration files of a trusted repository, beginning with the one in its root.
 *
 * @throws UserError `usage` for a file that can't be read, is a link that leads out of the repository, or contains an error
 */
export function readProjectLayers(project: Project): {
  readonly layers: readonly Layer[]
  readonly ignored: readonly Ignored[]
} {
  const read = projectFiles(project).map((path) => {
    const text = contained(path, project.root)
    if (typeof text !== 'string') throw new UserError('usage', `${path}: ${text.reason}`)
    const parsed = parseToml(text, path)
    const hidden = userOnlyKeys.filter(([name, key]) => isTable(parsed[name]) && key in parsed[name])
    for (const [name, key] of hidden) parsed[name] = without(parsed[name], key)
    const table = Object.entries(parsed)
    const mine = table.filter(([key]) => !userOnly.includes(key))
    const others = [
      ...table.filter(([key]) => userOnly.includes(key)).map(([key]) => key),
      ...hidden.map((path) => keyOf(path)),
    ]
    const place = { name: path, text }
    const settings = validate(ConfigFile, Object.fromEntries(mine), place)
    const layer: Layer = { ...place, kind: 'project', settings }
    return { layer, ignored: ignoring(path, others, 'only the user’s own configuration may set it') }
  })
  return { layers: read.map(({ layer }) => layer), ignored: read.flatMap(({ ignored }) => ignored) }
}

/** Lists the settings of an untrusted repository, all of which are ignored. Never fails, whatever the repository's files contain. */
export function listProjectSettings(project: Project): readonly Ignored[] {
  return projectFiles(project).flatMap((path) => {
    const text = contained(path, project.root)
    const table = typeof text === 'string' ? tryParseToml(text) : undefined
    const reason =
      'this repository is not trusted; to use these settings, trust the repository with --trust or agent trust'
    const keys = table === undefined ? [] : leavesOf(table).map((leaf) => keyOf(leaf.path))
    return keys.length === 0 ? [ignoredWhole(path, reason)] : ignoring(path, keys, reason)
  })
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function without(table: unknown, key: string): unknown {
  return isTable(table) ? Object.fromEntries(Object.entries(table).filter(([name]) => name !== key)) : table
}

function projectFiles({ root, workspace }: Project): readonly string[] {
  return directoriesBetween(root, workspace)
    .map((directory) => join(directory, fileName))
    .filter((path) => existsSync(path))
}

function contained(path: string, root: string): ReturnType<typeof readPlainFile> {
  const real = realpathSync(path)
  return isInside(real, root)
    ? readPlainFile(real, maxBytes)
    : { reason: `it is a link to ${real}, which is outside the repository` }
}
