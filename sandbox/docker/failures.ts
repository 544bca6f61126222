import { SandboxError } from '../sandbox-error.ts'

/**
 * Explains why the daemon refuses to create a container for a policy. The sandbox finds this out before any command runs, because it creates a
 * container when it opens.
 */
export function cannotStart(error: unknown): SandboxError {
  const detail = messageOf(error)
  const missing = /bind source path does not exist: (?<path>\S+)/.exec(detail)?.groups?.['path']
  return new SandboxError(
    'unavailable',
    missing === undefined
      ? {
          backend: 'docker',
          reason: `the docker daemon can't start a container for this policy: ${detail}`,
          remedy: 'The image must have /bin/sh, and the daemon must be able to mount the directories of the policy.',
        }
      : {
          backend: 'docker',
          reason: `${missing} does not exist on the machine where the docker daemon runs`,
          remedy: 'Use a daemon on this machine, or on one where the workspace and TMPDIR have the same paths as here.',
        },
    { cause: error },
  )
}

/** Explains why a command didn't start or didn't finish, even though a container was ready for it. */
export function setupFailed(error: unknown): SandboxError {
  return new SandboxError('setup-failed', { backend: 'docker', detail: messageOf(error) }, { cause: error })
}

/**
 * Returns the path, or throws an error if it isn't UTF-8. The daemon's API takes only text, in which other bytes would be replaced, so that a different file or
 * directory would be mounted.
 */
export function requireText(path: string): string {
  if (path.isWellFormed()) return path
  const detail = `the path ${path} is not UTF-8. Docker can't mount such a path, so the sandbox can't hide or protect it, or run a command in it. Rename it outside the sandbox, or use the bubblewrap sandbox`
  throw new SandboxError('setup-failed', { backend: 'docker', detail })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
