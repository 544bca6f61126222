import process from 'node:process'
import { readOwnFiles } from '../config/read-files.ts'
import { isTrusted } from '../config/is-trusted.ts'
import { writeTrust } from '../config/write-trust.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { findAppPaths } from '../core/app-paths.ts'
import { UserError } from '../core/user-error.ts'
import { findRepository, findWorkspace } from '../app/workspace.ts'
import { print } from './print.ts'

/**
 * `agent trust`: makes later runs trust the configuration files of a repository.
 *
 * @param directory a directory in the repository; undefined: the current directory
 * @throws UserError `usage` if a configuration file declares the repository untrusted, or the user's file is invalid or can't be changed
 */
export function trustRepository(directory: string | undefined): number {
  const places = findAppPaths(process.env)
  const workspace = findWorkspace(directory ?? process.cwd())
  const root = findRepository(workspace) ?? workspace
  const { trust, managed } = readOwnFiles(places, undefined)
  if (!isTrusted(root, { ...trust, flag: true })) {
    throw new UserError('usage', `${managed.name} says that ${root} is untrusted, and has the last word`)
  }
  const { file, changed } = writeTrust(places.config, root)
  print(`${root} ${changed ? `is trusted from now on (${file})` : `is already trusted (${file})`}`)
  return exitCodes.done
}

/** `agent trust --list`: prints a line for each repository that a file declares as trusted or untrusted. */
export function listTrust(): number {
  const { managed, user, trust } = readOwnFiles(findAppPaths(process.env), undefined)
  for (const [place, projects] of [
    [managed.name, trust.managed],
    [user.name, trust.user],
  ] as const) {
    for (const [path, { trust_level: level }] of Object.entries(projects ?? {})) {
      print(`${level}  ${path}  (${place})`)
    }
  }
  return exitCodes.done
}
