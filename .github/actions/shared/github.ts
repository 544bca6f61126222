import { ActionError, variable } from './runner.ts'

/**
 * Sends a request to GitHub's REST API and returns the answer. The token is sent only to the server that the runner names, and never through a
 * redirect.
 *
 * @throws GitHubError if GitHub refuses the request
 */
export type GitHub = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<unknown>

/** Thrown for an unexpected answer from GitHub. */
export class GitHubError extends ActionError {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** Returns a function that sends requests to the API. It appends `path` to the repository's URL, `/repos/OWNER/NAME`. */
export function openGitHub(token: string): GitHub {
  const base = `${variable('GITHUB_API_URL')}/repos/${variable('GITHUB_REPOSITORY')}`
  return async (method, path, body) => {
    const response = await fetch(`${base}${path}`, {
      method,
      redirect: 'error',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
        'user-agent': 'portcullis-action',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })
    if (response.ok) return response.json()
    throw new GitHubError(
      `GitHub answers ${response.status} to ${method} ${path.split('?')[0] ?? path}.`,
      response.status,
    )
  }
}
