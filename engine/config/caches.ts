import { lstatSync, realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import process from 'node:process'
import { homeDirectory, makeDirectories, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import type { Settings } from './settings-schema.ts'

type CacheName = NonNullable<Settings['sandbox_caches']>[number]

/** The variables that tell each package manager where its cache is, and the subdirectory to which each variable points (empty: the cache directory itself). */
const variables: Readonly<Record<CacheName, Readonly<Record<string, string>>>> = {
  npm: { npm_config_cache: '' },
  // Old and new versions of pnpm read different variables.
  pnpm: {
    npm_config_store_dir: 'store',
    npm_config_cache_dir: 'metadata',
    pnpm_config_store_dir: 'store',
    pnpm_config_cache_dir: 'metadata',
  },
  pip: { PIP_CACHE_DIR: '' },
  uv: { UV_CACHE_DIR: '' },
  cargo: { CARGO_HOME: '' },
  go: { GOMODCACHE: 'modules', GOCACHE: 'builds' },
  gradle: { GRADLE_USER_HOME: '' },
}

/** What the package caches of a configuration add to its sandbox policy: writable directories, and the variables that point to them. */
export type Caches = { readonly roots: readonly string[]; readonly set: Readonly<Record<string, string>> }

/** The value for a configuration without caches. */
export const noCaches: Caches = { roots: [], set: {} }

/**
 * Creates the directories for the configured package caches. They belong only to this workspace, so commands in other projects don't see them. Caches
 * exist only in workspace-write mode: read-only commands couldn't write to them, and files from confined commands must not influence unconfined ones.
 *
 * @throws UserError `usage` if a directory can't be created, is a link, belongs to another user or is writable by others
 */
export function openCaches(
  config: Settings,
  mode: SandboxPolicyInput['mode'],
  workspace: string,
  environment: Readonly<NodeJS.ProcessEnv>,
): Caches {
  const names = [...new Set(config.sandbox_caches ?? [])]
  if (names.length === 0 || mode !== 'workspace-write') return noCaches
  // The module is loaded only here, because it is one of the slowest to load and few configurations name caches.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const project = createHash('sha256').update(realpathSync(workspace)).digest('hex').slice(0, 32)
  const caches = names.map((name) => ({ name, root: ownDirectory(environment, ['portcullis-caches', project, name]) }))
  const set = caches.flatMap(({ name, root }) =>
    Object.entries(variables[name]).map(([variable, below]) => [variable, join(root, below)] as const),
  )
  return { roots: caches.map(({ root }) => root), set: Object.fromEntries(set) }
}

/** Creates a directory below the user's cache folder. No part of the path below that folder may be a link, belong to another user or be writable by others. */
function ownDirectory(environment: Readonly<NodeJS.ProcessEnv>, parts: readonly string[]): string {
  const named = environment['XDG_CACHE_HOME']
  const base = named !== undefined && isAbsolute(named) ? named : join(homeDirectory(), '.cache')
  try {
    makeDirectories(base)
    let path = realpathSync(base)
    for (const part of parts) {
      path = join(path, part)
      makeDirectories(path)
      // If the directory were a link, the target of the link would become writable.
      const found = lstatSync(path)
      if (!found.isDirectory()) throw new Error(`${path} is a link`)
      if (found.uid !== process.getuid?.()) throw new Error(`${path} belongs to another user`)
      if ((found.mode & 0o022) !== 0) throw new Error(`${path} is writable by others`)
    }
    return path
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UserError(
      'usage',
      `key 'sandbox_caches': the directory ${join(base, ...parts)} can't be used: ${reason}. Remove what is there, or point XDG_CACHE_HOME elsewhere.`,
      { cause: error },
    )
  }
}
