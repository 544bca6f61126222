/** What a preset says about a credential, and about the programs that use it. */
type CredentialPreset = {
  /** The variables of this program in which the value may be, in the order in which they are tried. */
  readonly from: readonly string[]
  readonly for: readonly string[]
  readonly as: 'git' | 'bearer' | 'basic' | 'header'
  readonly user?: string
  readonly header?: string
  readonly allow: readonly string[]
  /** Prefixes by which clients and servers recognize such a value. */
  readonly prefixes: readonly string[]
  /**
   * Returns the variables that make clients use the proxy, and give them the stand-in where they expect the value.
   *
   * @param hosts the hosts of the credential as commands reach them, such as `http://api.openai.com`
   */
  readonly variables: (standIn: string, hosts: readonly [string, ...string[]]) => Readonly<Record<string, string>>
}

const branches = 'git-push refs/heads/agent/*'

/** Credentials by the names of services. What their `allow` contains is what the sources of their rows describe as reading or as the main use. */
export const credentialPresets = {
  github: {
    from: ['GITHUB_TOKEN', 'GH_TOKEN'],
    for: ['github.com', 'api.github.com', 'uploads.github.com'],
    as: 'git',
    // docs.github.com/rest, docs.github.com/graphql/reference/queries: a GET and a query change nothing.
    allow: ['GET /**', 'graphql query *', 'git-fetch', branches],
    prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    variables: (standIn, [host]) => ({
      ...{ GITHUB_TOKEN: standIn, GH_TOKEN: standIn },
      // gh speaks to no other host without TLS.
      ...(host === 'http://github.localhost' ? { GH_HOST: 'github.localhost' } : {}),
    }),
  },
  gitlab: {
    from: ['GITLAB_TOKEN', 'GITLAB_ACCESS_TOKEN'],
    for: ['gitlab.com'],
    as: 'git',
    user: 'oauth2',
    // docs.gitlab.com/api/rest, docs.gitlab.com/api/graphql/reference
    allow: ['GET /**', 'graphql query *', 'git-fetch', branches],
    prefixes: ['glpat-', 'gldt-', 'glcbt-'],
    variables: (standIn, [host]) => ({ GITLAB_TOKEN: standIn, GITLAB_HOST: host }),
  },
  npm: {
    from: ['NODE_AUTH_TOKEN', 'NPM_TOKEN'],
    for: ['registry.npmjs.org'],
    as: 'bearer',
    // github.com/npm/registry/blob/main/docs/REGISTRY-API.md
    allow: ['GET /**'],
    prefixes: ['npm_'],
    variables: (standIn, [host]) => ({
      NODE_AUTH_TOKEN: standIn,
      NPM_TOKEN: standIn,
      npm_config_registry: `${host}/`,
      // Packages' own links name the registry by https.
      npm_config_replace_registry_host: 'always',
    }),
  },
  pypi: {
    from: ['TWINE_PASSWORD', 'PYPI_TOKEN'],
    for: ['upload.pypi.org'],
    as: 'basic',
    user: '__token__',
    // peps.python.org/pep-0503
    allow: ['GET /**'],
    prefixes: ['pypi-'],
    variables: (standIn, [host]) => ({
      TWINE_USERNAME: '__token__',
      TWINE_PASSWORD: standIn,
      // Without the port, twine would ask PyPI by https (twine/utils.py, normalize_repository_url).
      TWINE_REPOSITORY_URL: `${host}${new URL(host).port === '' ? ':80' : ''}/legacy/`,
      // Only a private index serves packages from the host to which they are uploaded.
      ...(host === 'http://upload.pypi.org'
        ? {}
        : { PIP_INDEX_URL: `${host}/simple/`, PIP_TRUSTED_HOST: new URL(host).host }),
    }),
  },
  openai: {
    from: ['OPENAI_API_KEY'],
    for: ['api.openai.com'],
    as: 'bearer',
    // platform.openai.com/docs/api-reference: answers of models, and what describes them
    allow: [
      ...['GET /v1/models/**', 'POST /v1/responses/**', 'GET /v1/responses/**', 'POST /v1/chat/completions'],
      ...[
        'POST /v1/completions',
        'POST /v1/embeddings',
        'POST /v1/moderations',
        'POST /v1/images/*',
        'POST /v1/audio/*',
      ],
    ],
    prefixes: ['sk-proj-', 'sk-svcacct-', 'sk-'],
    variables: (standIn, [host]) => ({ OPENAI_API_KEY: standIn, OPENAI_BASE_URL: `${host}/v1` }),
  },
  anthropic: {
    from: ['ANTHROPIC_API_KEY'],
    for: ['api.anthropic.com'],
    as: 'header',
    header: 'x-api-key',
    // docs.anthropic.com/en/api/messages, docs.anthropic.com/en/api/models-list
    allow: ['GET /v1/models/**', 'POST /v1/messages', 'POST /v1/messages/count_tokens'],
    prefixes: ['sk-ant-api03-', 'sk-ant-'],
    variables: (standIn, [host]) => ({ ANTHROPIC_API_KEY: standIn, ANTHROPIC_BASE_URL: host }),
  },
} satisfies Readonly<Record<string, CredentialPreset>>

/** The preset of this name; undefined if there is none. */
export function presetNamed(name: string | undefined): CredentialPreset | undefined {
  return name !== undefined && Object.hasOwn(credentialPresets, name)
    ? credentialPresets[name as keyof typeof credentialPresets]
    : undefined
}
