import { posix } from 'node:path'

/**
 * Places where credentials live, as parts of a path, in lower case. A file is sensitive when one of these is the
 * whole of its tail or a folder on the way to it.
 */
const folders = [
  ...['.ssh', '.aws', '.gnupg', '.azure', '.kube', '.docker', '.password-store', '.gcloud', '.oci', '.terraform.d'],
  ...[
    '.config/gh',
    '.config/gcloud',
    '.config/hub',
    '.config/op',
    '.config/rclone',
    '.config/sops',
    '.config/git/credentials',
  ],
  ...['.local/share/keyrings', 'library/keychains', '.mozilla', '.config/google-chrome', '.config/chromium'],
  ...['run/secrets', 'etc/ssl/private', 'etc/sudoers.d', 'var/lib/docker', '.subversion/auth', '.config/glab-cli'],
]

const files = [
  ...['.netrc', '_netrc', '.npmrc', '.yarnrc.yml', '.pypirc', '.pgpass', '.my.cnf', '.git-credentials', '.vault-token'],
  ...[
    '.s3cfg',
    '.boto',
    '.htpasswd',
    '.dockercfg',
    '.envrc',
    '.env',
    '.bash_history',
    '.zsh_history',
    '.python_history',
  ],
  ...['.node_repl_history', '.psql_history', '.mysql_history', '.gem/credentials', '.cargo/credentials'],
  ...['.cargo/credentials.toml', '.m2/settings.xml', '.composer/auth.json', '.codex/auth.json', '.terraformrc'],
  ...[
    '.claude/.credentials.json',
    '.claude.json',
    '.gemini/oauth_creds.json',
    '.config/openai',
    '.anthropic',
    '.pip/pip.conf',
  ],
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'etc/shadow', 'etc/gshadow', 'etc/sudoers', 'etc/krb5.keytab'],
  ...['credentials.json', 'service-account.json', 'secrets.json', 'secrets.yaml', 'secrets.yml', 'dev/mem', 'dev/kmem'],
  ...['etc/master.passwd', 'kubeconfig', '.git/config', '.streamlit/secrets.toml', '.config/containers/auth.json'],
]

const split = (name: string): { readonly name: string; readonly parts: readonly string[] } => ({
  name,
  parts: name.split('/'),
})
const knownFolders = folders.map(split)
const knownFiles = files.map(split)

/** Environment files that are made to be read. */
const examples = /^\.env\.(?:example|sample|template|dist|defaults?)$/

/**
 * Whether reading a path would read credentials, judged on its spelling: `..`, doubled slashes and case don't hide
 * it. A pattern (`~/.ss*` + `/id*`) counts when it could match such a path. Gives the part that decides.
 *
 * The sandbox is what keeps such files unreadable; this is why it is refused before it is tried.
 */
export function findSensitive(path: string, isPattern = false): string | undefined {
  // A name cut by a NUL or a trailing dot or space is the same file to some systems.
  const clean = posix.normalize(path.toLowerCase().normalize('NFC').replace(/\0.*/s, '')).replace(/[. ]+$/, '')
  const parts = clean.split('/').filter((part) => part !== '' && part !== '.')
  if (/\/\.ssh\/[\w.-]+\.pub$|\/\.ssh\/known_hosts$/.test(clean)) return undefined
  if (/^\/proc\//.test(clean) && /(?:environ|mem|maps|kcore|root|cwd|fd|cmdline)(?:\/|$)|[*?[]/.test(clean)) {
    if (!/^\/proc\/self\/cmdline$/.test(clean)) return '/proc'
  }
  if (/^\/dev\/(?:sd|nvme|vd|xvd|disk|mapper|dm-|loop|hd)/.test(clean)) return '/dev'
  for (const known of knownFolders) if (contains(parts, known.parts, isPattern, false)) return known.name
  for (const known of knownFiles) if (contains(parts, known.parts, isPattern, true)) return known.name
  const last = parts.at(-1) ?? ''
  if (/^\.env(?:\.|$)/.test(last) && !examples.test(last)) return '.env'
  if (/^id_(?:rsa|dsa|ecdsa|ed25519)/.test(last) && !last.endsWith('.pub')) return last
  if (/\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/.test(last)) return last
  return undefined
}

/** The folder of credentials that a path is in or names, whose very file names are nobody's business; see findSensitive. */
export function findSensitiveFolder(path: string, isPattern = false): string | undefined {
  const known = findSensitive(path, isPattern)
  return known !== undefined && (folders.includes(known) || known === '/proc') ? known : undefined
}

/** Whether going through everything below a path would come upon credentials: homes, the system's settings, all of it. */
export function coversSensitive(path: string): boolean {
  const clean = posix.normalize(path).replace(/\/+$/, '')
  return (
    /^(?:|~[^/]*|\/(?:root|home|Users|etc|proc|run|var|private|mnt|media)|\/(?:home|Users)\/[^/]+|~\/\.config|(?:\.\.\/)*\.\.)$/.test(
      clean,
    ) || /^\/proc(?:\/|$)/.test(clean)
  )
}

/** Whether the known parts are among the path's, at its end for a file. */
function contains(parts: readonly string[], known: readonly string[], isPattern: boolean, atEnd: boolean): boolean {
  const from = atEnd ? Math.max(0, parts.length - known.length) : 0
  for (let start = from; start + known.length <= parts.length; start++) {
    // A lone star stands for one part, but not for all of them.
    const isStar = (name: string, at: number): boolean =>
      isPattern && parts[start + at] === '*' && !name.startsWith('.')
    const fits = (name: string, at: number): boolean => matches(parts[start + at] ?? '', name, isPattern)
    if (known.every((name, at) => fits(name, at) || isStar(name, at)) && known.some(fits)) return true
  }
  return false
}

/** A pattern's segment against a name. Like the shell, a wildcard in front doesn't match a dot. */
function matches(segment: string, name: string, isPattern: boolean): boolean {
  if (segment === name) return true
  if (!isPattern || !/[*?[]/.test(segment)) return false
  if (/^[*?[]/.test(segment)) return !name.startsWith('.') && segment !== '*' && wildcard(segment, name)
  return wildcard(segment, name)
}

/** `*` and `?` matching without backtracking; a bracket counts as any one character, which only finds more. */
function wildcard(pattern: string, name: string): boolean {
  const simple = pattern.replace(/\[[^\]]*\]/g, '?')
  let [at, star, mark] = [0, -1, 0]
  let inName = 0
  while (inName < name.length) {
    if (simple[at] === '?' || simple[at] === name[inName]) {
      at++
      inName++
    } else if (simple[at] === '*') {
      star = at++
      mark = inName
    } else if (star >= 0) {
      at = star + 1
      inName = ++mark
    } else return false
  }
  while (simple[at] === '*') at++
  return at === simple.length
}
