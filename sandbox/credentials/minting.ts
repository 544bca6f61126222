import { matchesSegments, segmentsOf, type AllowRow, type Operation } from './allow-row.ts'

/**
 * Requests, or only those that write, which answer with a new secret, or store one, and so outlive the run. They are refused unless a row of `allow` names them: a row whose own text
 * contains the last fixed part of the path, or the field, as it stands here. Paths are compared without regard to case and to an ending such as `.json`.
 */
const paths: readonly (readonly [methods: 'any' | 'write', path: string, source: string])[] = [
  // GitHub
  ['any', '**/access_tokens/**', 'docs.github.com/rest/apps/apps, docs.gitlab.com/api/project_access_tokens'],
  ['any', '/applications/**', 'docs.github.com/rest/apps/oauth-applications'],
  ['any', '/authorizations/**', 'docs.github.com/rest/oauth-authorizations (until version 2022-11-28)'],
  ['any', '/app-manifests/**', 'docs.github.com/rest/apps/apps#create-a-github-app-from-a-manifest'],
  ['any', '/login/**', 'docs.github.com/apps/oauth-apps/building-oauth-apps'],
  [
    'any',
    '**/token',
    'github.com/features/copilot (copilot_internal/v2/token), distribution.github.io/distribution/spec/auth/token',
  ],
  ['any', '**/tokens', 'docs.gitlab.com/api/cluster_agents'],
  ['write', '**/tokens/**', 'docs.gitlab.com/api/cluster_agents'],
  ['write', '**/codespaces/**', 'docs.github.com/rest/codespaces/codespaces: each has a token of its own'],
  ['write', '**/keys/**', 'docs.github.com/rest/deploy-keys, rest/users/keys, docs.gitlab.com/api/user_keys'],
  ['write', '**/gpg_keys/**', 'docs.github.com/rest/users/gpg-keys'],
  ['write', '**/ssh_signing_keys/**', 'docs.github.com/rest/users/ssh-signing-keys'],
  ['write', '**/hooks/**', 'docs.github.com/rest/webhooks, docs.gitlab.com/api/project_webhooks'],
  ['write', '**/hook/**', 'docs.github.com/rest/apps/webhooks'],
  ['write', '**/secrets/**', 'docs.github.com/rest/actions/secrets, rest/codespaces, rest/dependabot'],
  ['write', '**/runners/**', 'docs.github.com/rest/actions/self-hosted-runners, docs.gitlab.com/api/runners'],
  [
    'any',
    '**/info/lfs/**',
    'github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md: answers with authorization headers',
  ],
  // GitLab
  ['write', '**/deploy_keys/**', 'docs.gitlab.com/api/deploy_keys'],
  ['any', '**/deploy_tokens/**', 'docs.gitlab.com/api/deploy_tokens'],
  ['any', '**/personal_access_tokens/**', 'docs.gitlab.com/api/personal_access_tokens'],
  ['any', '**/impersonation_tokens/**', 'docs.gitlab.com/api/user_tokens'],
  ['any', '/api/*/**/variables/**', 'docs.gitlab.com/api/project_level_variables, pipeline_schedules, pipelines'],
  ['any', '/api/*/**/secure_files/**', 'docs.gitlab.com/api/secure_files'],
  ['write', '/api/*/**/integrations/**', 'docs.gitlab.com/api/project_integrations'],
  ['write', '/api/*/**/remote_mirrors/**', 'docs.gitlab.com/api/remote_mirrors'],
  ['write', '**/session/**', 'docs.gitlab.com/api/session (until GitLab 10.2)'],
  ['any', '/api/*/admin/**', 'docs.gitlab.com/api/instance_level_ci_variables'],
  ['any', '/api/*/projects/*/triggers/**', 'docs.gitlab.com/api/pipeline_triggers'],
  ['any', '**/oauth/**', 'docs.gitlab.com/api/oauth2'],
  ['any', '/jwt/**', 'docs.gitlab.com/user/packages/container_registry/authenticate_with_container_registry'],
  // npm
  ['any', '/-/npm/*/tokens/**', 'github.com/npm/registry/blob/main/docs/user/authentication.md'],
  ['any', '/-/*/login/**', 'github.com/npm/npm-profile'],
  ['write', '/-/npm/*/user/**', 'github.com/npm/npm-profile'],
  ['any', '/-/user/**', 'github.com/npm/registry/blob/main/docs/user/authentication.md'],
  ['any', '/-/npm/*/oidc/**', 'docs.npmjs.com/trusted-publishers'],
  // PyPI
  ['any', '/_/oidc/**', 'docs.pypi.org/trusted-publishers/internals'],
  // OpenAI, Anthropic
  ['any', '/*/organization/**', 'platform.openai.com/docs/api-reference/administration'],
  ['any', '/*/organizations/**', 'docs.anthropic.com/en/api/admin-api'],
  ['any', '/*/realtime/client_secrets', 'platform.openai.com/docs/api-reference/realtime-sessions'],
  ['write', '**/sessions/**', 'platform.openai.com/docs/api-reference/realtime-sessions, chatkit'],
  ['write', '**/transcription_sessions/**', 'platform.openai.com/docs/api-reference/realtime-sessions'],
  ['any', '**/api_keys/**', 'docs.anthropic.com/en/api/admin-api'],
]

/** Fields of mutations that do the same. Source: docs.github.com/graphql/reference/mutations. */
const fields = /migration|token|secret|deploykey|sshkey|gpgkey|webhook|verifiabledomain|ipallowlist|oauth|runner/i

/** Why a request that no row names is refused although rows allow it; undefined if it isn't. */
export function refusedAsMinting(operation: Operation, allowing: readonly AllowRow[]): string | undefined {
  if (operation.kind === 'graphql') {
    const { field } = operation
    const isNamed = allowing.some((row) => row.kind === 'graphql' && row.field === field)
    if (operation.operation === 'query' || isNamed || !fields.test(field)) return undefined
    return `the mutation ${field} may create or store a secret, and is allowed only by its own name`
  }
  if (operation.kind !== 'http') return undefined
  const reads = ['GET', 'HEAD'].includes(operation.method)
  const lower = operation.target.segments.map((part) => part.toLowerCase().replace(/\.[a-z]+$/, ''))
  for (const [methods, path] of paths) {
    if (methods === 'write' && reads) continue
    const pattern = segmentsOf(path)
    if (!matchesSegments(pattern, lower)) continue
    const name = pattern.findLast((part) => !part.includes('*')) ?? ''
    if (allowing.some((row) => row.kind === 'http' && row.segments.some((part) => part.toLowerCase() === name)))
      continue
    return `${operation.method} ${path} creates, reads or stores secrets, and is allowed only by a row that contains ${JSON.stringify(name)}`
  }
  return undefined
}
