import { gitRewrites } from '../credentials/git-rewrites.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { shownPath } from '../views/view-paths.ts'
import { isBare } from './repository.ts'

/**
 * Adds git settings to the variables. They turn off git's file system monitor, and keep git from using a directory that only looks like a repository.
 * Such a directory may have come with a clone, and its configuration can name programs to run (git-config(1), safe.bareRepository). If the workspace
 * itself is a bare repository, git still uses it, because `GIT_DIR` then names it. Remotes on the hosts of credentials are read as the addresses at which
 * the proxy answers for them.
 */
export function withGitSettings(
  { workspace, views, credentials }: SandboxPolicy,
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const count = Number(variables['GIT_CONFIG_COUNT'] ?? 0)
  // An invalid count is left alone, so that git itself reports it.
  if (!Number.isSafeInteger(count) || count < 0) return variables
  const settings = [
    ['safe.bareRepository', 'explicit'],
    ['core.fsmonitor', 'false'],
    ...gitRewrites(credentials),
  ] as const
  return {
    ...variables,
    ...Object.fromEntries(
      settings.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${count + at}`, key],
        [`GIT_CONFIG_VALUE_${count + at}`, value],
      ]),
    ),
    GIT_CONFIG_COUNT: `${count + settings.length}`,
    ...(variables['GIT_DIR'] === undefined && isBare(workspace) ? { GIT_DIR: shownPath(workspace, views) } : {}),
  }
}
