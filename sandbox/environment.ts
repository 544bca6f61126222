import process from 'node:process'
import { withGitSettings } from './git/settings-in-variables.ts'
import { memoize } from './memoize.ts'
import { networkVariables } from './network/inside.ts'
import { isWithin } from './paths.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import { wildcard } from './wildcard.ts'

type Variables = Readonly<Record<string, string>>

/**
 * Names of variables that programs often need, for example to find files or to choose the language of messages, and that contain nothing worth
 * stealing.
 */
const coreNames: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  ...'ADDRESS ALL COLLATE CTYPE IDENTIFICATION MEASUREMENT MESSAGES MONETARY NAME NUMERIC PAPER TELEPHONE TIME'
    .split(' ')
    .map((category) => `LC_${category}`),
  'TZ',
  'TZDIR',
  'NO_COLOR',
  // These variables locate toolchains, version managers and certificates, or set what builds and commits record.
  'CONDA_DEFAULT_ENV',
  'CONDA_PREFIX',
  'VIRTUAL_ENV',
  'JAVA_HOME',
  'ANDROID_HOME',
  'GOPATH',
  'GOROOT',
  'CARGO_HOME',
  'RUSTUP_HOME',
  'RUSTUP_TOOLCHAIN',
  'NVM_DIR',
  'NVM_BIN',
  'FNM_DIR',
  'VOLTA_HOME',
  'PNPM_HOME',
  'PYENV_ROOT',
  'PYENV_VERSION',
  'RBENV_ROOT',
  'SDKMAN_DIR',
  'DOTNET_ROOT',
  'NIX_PATH',
  'NIX_PROFILES',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'SOURCE_DATE_EPOCH',
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
]

const secretName =
  /KEY|SECRET|TOKEN|PASSW|PASSPHRASE|CREDENTIAL|AUTH(?!OR)|COOKIE|SESSION|PRIVATE|SIGNATURE|WEBHOOK|CERTIFICATE|_PAT$|^PAT_|_PSK$|_DSN$|DATABASE_URL|CONNECTION_STRING/i

/** Matches `scheme://user:password@host`, the form in which the URLs of databases and proxies contain a password. */
const addressWithPassword = /^[a-z][a-z0-9+.-]*:\/\/[^/@\s:]*:[^/@\s]+@/i

/**
 * Whether an environment variable counts as a secret, because of its name or value.
 *
 * @example console.log(looksLikeSecret('API_TOKEN', 'x')) // true
 */
export function looksLikeSecret(name: string, value: string): boolean {
  return secretName.test(name) || addressWithPassword.test(value)
}

/**
 * The variables that are set for every command, because nobody is there to answer a prompt, scroll a pager, close an editor or look at colours.
 */
const nonInteractive: Variables = {
  CI: '1',
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'true',
  SSH_ASKPASS_REQUIRE: 'never',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  GCM_INTERACTIVE: 'never',
  GH_PROMPT_DISABLED: '1',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
}

/**
 * Variables that move temporary files to the private temporary directory, and caches too where commands can't write to those in the home directory.
 *
 * @param homes directories in which commands can write to caches
 */
function privateTemp(directory: string, inherited: Variables, homes: readonly string[]): Variables {
  const caches = { XDG_CACHE_HOME: `${directory}/.cache`, npm_config_cache: `${directory}/.cache/npm` }
  const isUsable = (place: string | undefined): boolean =>
    place !== undefined && homes.some((home) => isWithin(place, home))
  return {
    TMPDIR: directory,
    TMP: directory,
    TEMP: directory,
    TMPPREFIX: `${directory}/zsh`,
    ...Object.fromEntries(Object.entries(caches).filter(([name]) => !isUsable(inherited[name] ?? inherited['HOME']))),
  }
}

/**
 * The reason why a variable that doesn't come from the caller's environment (but from a hook, for example) can't be passed to a command; undefined if
 * it can. The policy's filters apply to such a variable too, and it can't replace a variable that the policy sets.
 *
 * @internal
 */
export function refusalOfVariable(
  { exclude, includeOnly, set, pass }: SandboxPolicy['environment'],
  name: string,
  value: string,
): 'secret' | 'set' | 'excluded' | undefined {
  if (Object.hasOwn(set, name)) return 'set'
  if (pass.includes(name)) return undefined
  if (looksLikeSecret(name, value)) return 'secret'
  if (matcher(exclude)(name)) return 'excluded'
  return includeOnly.length > 0 && !matcher(includeOnly)(name) ? 'excluded' : undefined
}

/** The maximum number of names to cache. Environments hardly ever have that many variables. */
const mostNames = 1000

/**
 * Creates a function that tests names against patterns. Results are cached, because every command asks about the same names. Without the cache,
 * matching the patterns would take most of the time that it takes to start a command.
 */
const matcher = memoize((patterns: readonly string[]): ((name: string) => boolean) => {
  const tests = patterns.map((pattern) => wildcard(pattern.toLowerCase(), { question: true }))
  const known = new Map<string, boolean>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const lower = name.toLowerCase()
    const matches = tests.some((test) => test(lower))
    if (known.size >= mostNames) known.clear()
    known.set(name, matches)
    return matches
  }
})

const isCore = matcher(coreNames)

/** The environment variables that a command gets, and the names of the variables that are withheld from it. */
type CommandEnvironment = { readonly variables: Variables; readonly withheld: readonly string[] }

/** How many variables of an environment are withheld from commands, and how many of these count as secrets. */
export type Withheld = { readonly variables: number; readonly secrets: number }

/**
 * The environment that commands inherit: the environment of this process, whichever program uses the sandbox.
 *
 * @internal
 */
export function inheritedVariables(): Readonly<Record<string, string | undefined>> {
  return process.env
}

/**
 * Counts the variables that a policy withholds from commands.
 *
 * @example const { variables, secrets } = countWithheld(parsePolicy({ mode: 'read-only', workspace: process.cwd() }))
 */
export function countWithheld(policy: SandboxPolicy): Withheld {
  const inherited = inheritedVariables()
  const { withheld } = commandEnvironment(policy, inherited, { cwd: '/' })
  const secrets = withheld.filter((name) => looksLikeSecret(name, inherited[name] ?? ''))
  return { variables: withheld.length, secrets: secrets.length }
}

/**
 * The variables of a command. They come from four sources: the caller's environment (after the policy's filters), the sandbox (for example, variables
 * that keep a command from waiting for a person, or that name its proxy), the policy, and the command itself. If two sources set the same variable,
 * the later one wins.
 *
 * @param temp the command's own temporary directory, as the command sees it
 * @param homes directories in which commands can write to caches
 */
export function commandEnvironment(
  policy: SandboxPolicy,
  inherited: Readonly<Record<string, string | undefined>>,
  command: { readonly cwd: string; readonly env?: Variables | undefined; readonly terminal?: unknown },
  temp = '/tmp',
  homes: readonly string[] = [],
): CommandEnvironment {
  const { inherit, pass, exclude, includeOnly, set } = policy.environment
  const variables: Record<string, string> = {}
  const withheld: string[] = []
  const [isExcluded, isIncluded] = [matcher(exclude), matcher(includeOnly)]
  for (const [name, value] of Object.entries(inherited)) {
    if (value === undefined) continue
    const passes =
      pass.includes(name) ||
      (inherit !== 'none' &&
        (inherit !== 'core' || isCore(name)) &&
        !looksLikeSecret(name, value) &&
        !isExcluded(name) &&
        (includeOnly.length === 0 || isIncluded(name)))
    if (passes) variables[name] = value
    else withheld.push(name)
  }
  return {
    variables: withGitSettings(policy, {
      ...variables,
      ...nonInteractive,
      ...(command.terminal === undefined ? {} : { TERM: 'xterm-256color' }),
      ...(policy.mode === 'danger-full-access' ? {} : privateTemp(temp, variables, homes)),
      ...networkVariables(policy),
      ...(policy.dockerSocket === undefined ? {} : { DOCKER_HOST: `unix://${policy.dockerSocket}` }),
      PWD: command.cwd,
      ...set,
      ...command.env,
    }),
    withheld,
  }
}
