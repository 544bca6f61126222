import { realpathSync } from 'node:fs'
import type { Projects } from './settings-schema.ts'

/** The files that decide about trust. */
type TrustSources = {
  /** From the machine owner's file; nobody overrules it. */
  readonly managed: Projects
  /** From the user's file. */
  readonly user: Projects
  /** `--trust` was given: the user trusts it for this run. */
  readonly flag: boolean
}

/**
 * Whether to use what a repository brings along (configuration, rules, permissions). Not by default: whoever can change the repository
 * could change what restrains it.
 *
 * @param root the repository's root, or the workspace itself outside any; a real path
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
