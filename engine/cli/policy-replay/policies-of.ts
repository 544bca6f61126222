import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { ReplayOptions } from '../../../policies/index.ts'
import { approvalModeOf, sandboxModeOf } from '../../app/modes.ts'
import { findRepository } from '../../app/workspace.ts'
import type { Config } from '../../config/load-config.ts'
import { readPolicies } from '../../config/read-policies.ts'
import { ruleFileNames } from '../../config/rule-file-names.ts'
import { findHome, findAppPaths } from '../../core/app-paths.ts'
import { UserError } from '../../core/user-error.ts'
import type { PolicyReplayOptions } from '../policy-options.ts'
import { loadRunConfig } from '../run-config.ts'

/**
 * Returns a function that finds the policies for the actions in a workspace: those that `agent exec` would now read in that workspace, unless the
 * command line replaces them. The modes are included only if an option, `-c` or a profile sets them. Everything is read once for each workspace. A
 * workspace that doesn't exist on this machine contributes no files of its own.
 *
 * @throws UserError `usage` for any error in rules, permissions, settings or options; the returned function throws it too
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

/** Whether `-c` or the active profile sets a key. A value from any other source doesn't override the mode that the session had. */
function isAskedFor({ origins }: Config, key: string): boolean {
  const kind = origins.get(key)?.layer.kind
  return kind === '-c' || kind === 'profile'
}

/** The rule files for a path: the file itself, or the `.rules` files in the folder and in its subfolder `rules`. */
function ruleFilesOf(path: string): readonly string[] {
  const place = statSync(path, { throwIfNoEntry: false })
  if (place === undefined) throw new UserError('usage', `--rules ${path}: there is no such file or folder`)
  if (!place.isDirectory()) return [path]
  const inner = join(path, 'rules')
  const found = [path, ...(existsSync(inner) && statSync(inner).isDirectory() ? [inner] : [])].flatMap((folder) =>
    ruleFileNames(folder, (why) => {
      throw new UserError('usage', `--rules ${folder}: ${why}`)
    }).map((name) => join(folder, name)),
  )
  if (found.length > 0) return found
  throw new UserError('usage', `--rules ${path}: none of its files ends in .rules, so it contains no rules`)
}
