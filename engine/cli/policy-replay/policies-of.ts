import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { ReplayOptions } from '../../../policies/index.ts'
import { approvalModeOf, sandboxModeOf } from '../../app/modes.ts'
import { findRepository } from '../../app/workspace.ts'
import type { Config } from '../../config/load-config.ts'
import { readPolicies } from '../../config/read-policies.ts'
import { findHome, findAppPaths } from '../../core/app-paths.ts'
import { UserError } from '../../core/user-error.ts'
import type { PolicyReplayOptions } from '../policy-options.ts'
import { loadRunConfig } from '../run-config.ts'

/**
 * Gives the policies for the actions of a workspace: what `agent exec` would read there now, with the command line's replacements. Read
 * once for each workspace. For a workspace that isn't on this machine, only the machine's and the user's files apply.
 *
 * @throws UserError `usage` for anything wrong in rules, permissions, settings or options
 */
export function policiesByWorkspace(options: PolicyReplayOptions): (workspace: string) => ReplayOptions {
  const places = findAppPaths(process.env)
  const home = findHome(process.env)
  const { rules, permissions, trust, isolated, profile, config: overrides } = options
  const inPlace = { rules: rules?.flatMap(ruleFilesOf), permissions }
  const read = (workspace: string): ReplayOptions => {
    const asked = {
      config: overrides,
      ...(trust === true ? { trust } : {}),
      ...(isolated === true ? { isolated } : {}),
      ...(profile === undefined ? {} : { profile }),
    }
    const config = loadRunConfig(asked, workspace, places)
    const project = { root: findRepository(workspace) ?? workspace, workspace }
    const { settings } = config
    const approvalMode =
      options.askForApproval ?? (isAskedFor(config, 'approval_policy') ? approvalModeOf(settings) : undefined)
    const sandbox = options.sandbox ?? (isAskedFor(config, 'sandbox_mode') ? sandboxModeOf(settings) : undefined)
    return {
      ...readPolicies({ places, home, project, config, inPlace }),
      ...(approvalMode === undefined ? {} : { approvalMode }),
      ...(sandbox === undefined ? {} : { sandbox }),
    }
  }
  const known = new Map<string, ReplayOptions>()
  return (workspace) => {
    const found = known.get(workspace) ?? read(workspace)
    known.set(workspace, found)
    return found
  }
}

/** Whether this command line sets it. Files don't override the mode that a session had. */
function isAskedFor({ origins }: Config, key: string): boolean {
  const kind = origins.get(key)?.layer.kind
  return kind === '-c' || kind === 'profile'
}

/** The rule files that a path means: the file itself, those in the folder, or those in its folder `rules`. */
function ruleFilesOf(path: string): readonly string[] {
  const place = statSync(path, { throwIfNoEntry: false })
  if (place === undefined) throw new UserError('usage', `--rules ${path}: there is no such file or folder`)
  if (!place.isDirectory()) return [path]
  const inner = join(path, 'rules')
  const found = [path, ...(existsSync(inner) && statSync(inner).isDirectory() ? [inner] : [])].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.rules'))
      .toSorted()
      .map((name) => join(folder, name)),
  )
  if (found.length > 0) return found
  throw new UserError('usage', `--rules ${path}: none of its files ends in .rules, so it contains no rules`)
}
