import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type * as z from 'zod'
import type { AppPaths } from '../core/app-paths.ts'
import { readUserText } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'
import type { Layer } from './merge-layers.ts'
import { nearest } from '../core/text/nearest.ts'
import { ConfigFile, ManagedFile, UserFile, type Projects } from './settings-schema.ts'
import { parseToml } from './toml.ts'
import { validate } from './validate.ts'

/** The settings of the user and of the machine's owner. They are empty for a file that doesn't exist. */
type OwnFiles = {
  readonly managed: Layer
  /** The user's file, without its profiles. */
  readonly user: Layer
  /** The active profile; undefined if there is none. */
  readonly profile: Layer | undefined
  readonly trust: { readonly managed: Projects; readonly user: Projects }
}

/**
 * Reads the `config.toml` files of the machine's owner and of the user. All profiles in the user's file are validated, even inactive ones.
 *
 * @param profile the profile that `-p` names; undefined: the one that the user's file names, if any
 * @throws UserError `usage` naming the file, the line, the key and the expected value; or if there is no such profile
 */
export function readOwnFiles(places: AppPaths, profile: string | undefined): OwnFiles {
  const machine = read(places.managed, ManagedFile)
  const { projects: managedProjects, ...managed } = machine.value
  const own = read(places.config, UserFile)
  const { projects, profile: named, profiles = {}, ...user } = own.value
  return {
    managed: { ...machine.place, kind: 'managed', settings: managed },
    user: { ...own.place, kind: 'user', settings: user },
    profile: profileLayer(profile ?? named, profiles, { ...own.place, directory: places.config }),
    trust: { managed: managedProjects, user: projects },
  }
}

/**
 * Reads only the `config.toml` of the machine's owner. The user's file isn't even opened, so the user's settings are empty.
 *
 * @throws UserError `usage` naming the file, the line, the key and the expected value
 */
export function readManagedFile(places: AppPaths): OwnFiles {
  const { value, place } = read(places.managed, ManagedFile)
  const { projects, ...managed } = value
  return {
    managed: { ...place, kind: 'managed', settings: managed },
    user: { kind: 'user', name: join(places.config, 'config.toml'), settings: {} },
    profile: undefined,
    trust: { managed: projects, user: undefined },
  }
}

/** Finds a profile, which is either a table in the user's file or a file `NAME.config.toml` next to it. */
function profileLayer(
  name: string | undefined,
  profiles: Readonly<Record<string, ConfigFile>>,
  { directory, ...place }: { readonly name: string; readonly text: string; readonly directory: string },
): Layer | undefined {
  if (name === undefined) return undefined
  const file = /^[\w-]+$/.test(name) ? `${name}.config.toml` : undefined
  const beside = file !== undefined && existsSync(join(directory, file)) ? file : undefined
  const settings = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (settings !== undefined && beside !== undefined) {
    throw new UserError('usage', `${place.name}: both [profiles.${name}] and ${beside} exist; keep one of them`)
  }
  if (settings !== undefined) return { ...place, kind: 'profile', settings, within: ['profiles', name] }
  if (beside !== undefined) {
    const { value, place: own } = read(directory, ConfigFile, beside)
    return { ...own, kind: 'profile', settings: value }
  }
  const known = Object.keys(profiles)
  const near = nearest(name, known)
  const advice =
    near !== undefined
      ? `did you mean '${near}'?`
      : known.length === 0
        ? `add a table [profiles.${name}] to that file, or a file ${name}.config.toml next to it`
        : `known profiles: ${known.join(', ')}`
  throw new UserError('usage', `${place.name}: there is no profile '${name}'; ${advice}`)
}

function read<T>(
  directory: string,
  schema: z.ZodType<T>,
  file = 'config.toml',
): { readonly value: T; readonly place: { readonly name: string; readonly text: string } } {
  const name = join(directory, file)
  const place = { name, text: readConfigText(name) }
  return { value: validate(schema, parseToml(place.text, name), place), place }
}

const largestConfig = 4 * 1024 * 1024

/**
 * @returns the text of a `config.toml`; empty if there is none
 * @throws UserError `usage` if it can't be read
 */
export function readConfigText(path: string): string {
  return existsSync(path) ? readUserText(path, largestConfig) : ''
}
