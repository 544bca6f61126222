const list = (text: string): readonly string[] => text.split(/[|\n]/).flatMap((part) => part.trim() || [])

/**
 * Folders with credentials, as lower-case parts of paths. The list contains folders in projects, and other folders that are missing from the
 * sandbox's table.
 */
export const sensitiveFolders = list(`
  etc/ssh/keys | .cache/huggingface | .ansible | .bundle | .secrets | run/secrets | .codeium | .qwen | .mlflow | .prefect
  etc/davfs2 | .aws.bak
  run/agenix | run/agenix.d | run/keys | run/secrets.d | mnt/secrets-store | run/lightdm | run/sddm | run/gdm | run/gdm3
`)

/** Files with credentials, in lower case. Each entry is the end of a path. */
export const sensitiveFiles = list(`
  _netrc | .htpasswd | .envrc | .env | fish_history | .redisclirc | .nuget/nuget.config
  .config/exercism/user.json | etc/cups/passwd | .codex/auth.json | .claude/.credentials.json | .gemini/oauth_creds.json
  id_rsa | id_dsa | id_ecdsa | id_ed25519 | credentials.json | service-account.json | secrets.json | secrets.yaml
  secrets.yml | dev/mem | dev/kmem | clouds.yaml | wallet.dat | terraform.tfstate | terraform.tfstate.backup
  terraform.tfvars | .dockerconfigjson | wp-config.php | .continue/config.json | .continue/config.yaml
  .cursor/mcp.json | .aider.conf.yml | state.vscdb | kubeconfig | .git/config | fish_variables | .config/git/config
  jupyter_server_config.json | run/containers/0/auth.json | .vscode/sftp.json | .idea/webservers.xml | key.properties | local.settings.json
  .hg/hgrc | .kamal/secrets | .kamal/secrets-common | pip.conf | pip.ini | .mvn/settings.xml
  swapfile | swap.img | hiberfil.sys | pagefile.sys | app/etc/env.php | localsettings.php | sites/default/settings.php
  settings.local.php | configuration.php | app/config/parameters.yml | config/autoload/local.php
  protected/config/database.php | .credentials | .credentials_rsaparams
`)

/** Names of files that contain a secret, in any folder. */
const secretNames =
  /^\.?[\w.-]*\.env[~_-]?$|^\.+env(?:[~_-]|\.sw.$)|^\.flaskenv$|^\.dev\.vars$|^secrets?\.(?:env|toml|txt|ini|conf|cfg|properties|xml|csv)$|^(?:passwords?|passwd|tokens?|api[-_]?keys?)\.(?:txt|csv|env|ini)$|^\.(?:token|password|passwd|api[-_]?key)s?$|^(?:private|deploy)[-_]key$|_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:ovpn|kdb|agekey|pkcs12)$|^client_secrets?.*\.json$|^service[-_]?account(?:[-_]?key)?\.json$|^(?:gcp|gcloud|google)[-_]?(?:key|credentials)\.json$|^application_default_credentials\.json$|^credentials(?:\.(?:csv|ya?ml|toml|ini|txt|xml))?$|^kubeconfig(?:\.ya?ml)?$|^\.?vault[-_]pass(?:word)?(?:\.txt)?$|^auth\.toml$|^\.clasprc\.json$|^\.ftpconfig$|^sftp-config\.json$|\.tfvars$|^\.(?:npmrc|netrc|pgpass|git-credentials)[~.]/

/**
 * More names of files that contain a secret: less common names of environment files (`db.env.production`, `.environment`), and X authority files, which
 * contain the cookies of X displays.
 */
const moreNames =
  /^[\w-]+\.env\.(?:local|prod|production|dev|development|stag|staging|test)$|\.private\.env\.json$|^\.environment$|^xauthority$|^xauth_[a-z0-9]{6}$|^\.mutter-xwaylandauth/

const exampleNames = /example|sample|template|^(?:test|tests|default|defaults|dist)\.env$/

/** Typical names of files with credentials. A pattern that matches one of them may target credentials. */
export const secretSamples: readonly string[] = [
  ...[
    '.env',
    '.env.local',
    '.npmrc',
    '.netrc',
    'id_rsa',
    'credentials',
    'secrets.yml',
    'secrets.txt',
    'server.key',
    'a.pem',
  ],
  ...['passwords.txt', 'token.txt', 'prod.env', 'prod.tfvars', 'keys.kdbx', 'cert.p12'],
]
/** Typical names of files without secrets. A pattern that matches one of them doesn't target secrets in particular. */
const others = [
  ...[
    'index.ts',
    'README',
    'main.c',
    'package.json',
    'config.yml',
    'notes.txt',
    'main.py',
    'style.css',
    'a.csv',
    'lib.rs',
  ],
]
/** Whether a pattern, given as a function that tests names, matches one of the typical names of files without secrets. */
export function isOrdinary(matches: (name: string) => boolean): boolean {
  return others.some(matches)
}

const secretEnds = ['key', 'pem', 'env', 'p12', 'pfx', 'tfvars', 'kdbx', 'ppk']
const otherEnds = ['ts', 'json', 'txt', 'yml', 'md', 'c', 'py', 'html']

/** Whether a shell's pattern for file names targets files with credentials. `matches` tests a name against the pattern. */
export function patternTargetsSecrets(pattern: string, matches: (name: string) => boolean): boolean {
  if (targetsSecrets(matches)) return true
  const stem = pattern.slice(0, Math.max(0, pattern.lastIndexOf('.')))
  if (stem === '' || /[*?[\]]/.test(stem)) return false
  return secretEnds.some((end) => matches(`${stem}.${end}`)) && !otherEnds.some((end) => matches(`${stem}.${end}`))
}

/** Whether a pattern singles out names of files with credentials, rather than matching names in general. */
export function targetsSecrets(matches: (name: string) => boolean): boolean {
  return secretSamples.some(matches) && !isOrdinary(matches)
}

/** Words that stand for a secret. In a file name, such a word may also be written as two parts (`api_keys`). */
const secretWords = new Set(
  list(`
    secret | secrets | token | mnemonic | cookies | vault | credential | credentials | creds | password | passwords | passwd | passphrase | passphrases | apikey | apikeys
    accesskey | accesskeys | privatekey | privatekeys | rootkey | rootkeys | recoverycode | recoverycodes | backupcode
    backupcodes
  `),
)
/** Extensions of files that contain values, as opposed to prose or code. */
const dataEnds = new Set(
  list(
    'json | csv | tsv | txt | ini | conf | cfg | properties | toml | env | dat | yaml | yml | xml | pickle | pkl | db',
  ),
)
/** The maximum length of a name that is judged. No file system allows longer names, whether counted in bytes or characters. */
export const longestName = 1_024

/** Whether a name, which must be in lower case, indicates a secret. */
export function isSecretName(name: string): boolean {
  return (secretNames.test(name) || moreNames.test(name) || hasSecretWord(name)) && !exampleNames.test(name)
}

/**
 * Whether a file's name ends in a word for a secret and an extension for data: `db-credentials.csv`, `api_keys.json`. If other words follow the word
 * for a secret, it only says what the file is about (`password-reset.json`), except in names that begin with `secret.` or `secrets.`, and in Google's
 * `myproject-firebase-adminsdk-1a.json`.
 */
function hasSecretWord(name: string): boolean {
  if (name.length > longestName) return false
  const parts = name.split(/[._-]/).filter((part) => part !== '')
  if (parts.length > 1 && /^(?:secrets?|credentials?|passw(?:or)?d)$/.test(parts.at(-1) ?? '')) return true
  if (!dataEnds.has(parts.at(-1) ?? '') || /external-secret|schema/.test(name)) return false
  if (/^secrets?\./.test(name)) return true
  return (
    secretWords.has(parts.at(-2) ?? '') || secretWords.has(parts.slice(-3, -1).join('')) || parts.includes('adminsdk')
  )
}

/** Removes the extension that a file gets when it is backed up or decrypted (`wp-config.php.bak`, `secrets.yaml.dec`, `id_rsa~`). */
export function withoutBackupEnd(name: string): string {
  const end = /(?:\.(?:bak|backup|old|orig|save|copy|tmp|dec|decrypted|plain)|~)$/.exec(name)
  return end === null || end.index === 0 ? name : name.slice(0, end.index)
}
