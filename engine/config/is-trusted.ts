import { realpathSync } from 'node:fs'
import type { Projects } from './settings-schema.ts'

/** The sources that decide whether a repository is trusted. */
type TrustSources = {
  /** The entries in the machine owner's file. Nothing overrides them. */
  readonly managed: Projects
  /** The entries in the user's file. */
  readonly user: Projects
  /** Whether the user gave `--trust`, to trust the repository for this run. */
  readonly flag: boolean
}

/**
 * Whether to use the settings and allow rules of a repository. By default they aren't used, because anyone who can change the repository could
 * otherwise allow more in runs there. Its deny and ask rules don't depend on this.
 *
 * @param root the real path of the repository's root; outside a repository, that of the workspace
 */
export function isTrusted(root: string, { managed, user, flag }: TrustSources): boolean {
  const level = levelOf(root, managed) ?? (flag ? 'trusted' : levelOf(root, user))
  return level === 'trusted'
}

function levelOf(root: string, projects: Projects): 'trusted' | 'untrusted' | undefined {
  return Object.entries(projects ?? {}).find(([path]) => path === root || realPath(path) === root)?.[1].trust_level
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
