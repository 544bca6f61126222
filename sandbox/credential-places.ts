import { ownPlaces } from './own-places.ts'

/**
 * Where programs keep secrets by default, and where this one keeps what steers it. A command of an agent has no business there: each
 * is hidden unless the policy's `deniedReads` says otherwise. `~` means both homes.
 */
export function credentialPlaces(): readonly string[] {
  return [...new Set([...places, ...ownPlaces()])]
}

const places: readonly string[] = [
  // Keys
  '~/.ssh',
  '~/.gnupg',
  '~/.age',
  '~/.config/sops',
  '~/.password-store',
  '~/.local/share/keyrings',
  '~/.vault-token',
  // Clouds and clusters
  '~/.aws',
  '~/.azure',
  '~/.config/gcloud',
  '~/.boto',
  '~/.s3cfg',
  '~/.config/doctl',
  '~/.config/hcloud',
  '~/.config/rclone',
  '~/.oci',
  '~/.kube',
  '~/.docker',
  '~/.config/containers/auth.json',
  '~/.terraform.d/credentials.tfrc.json',
  '~/.fly',
  '~/.config/heroku',
  '~/.config/netlify',
  '~/.config/vercel',
  '~/.local/share/com.vercel.cli',
  // Code hosts and package registries
  '~/.config/gh',
  '~/.config/glab-cli',
  '~/.config/hub',
  '~/.git-credentials',
  '~/.config/git/credentials',
  '~/.netrc',
  '~/.npmrc',
  '~/.yarnrc.yml',
  '~/.pypirc',
  '~/.config/pip/pip.conf',
  '~/.cargo/credentials',
  '~/.cargo/credentials.toml',
  '~/.gem/credentials',
  '~/.m2/settings.xml',
  '~/.gradle/gradle.properties',
  '~/.composer/auth.json',
  '~/.config/composer/auth.json',
  // Databases
  '~/.pgpass',
  '~/.my.cnf',
  '~/.mylogin.cnf',
  // Other agents, and our own state
  '~/.codex',
  '~/.claude',
  '~/.claude.json',
  '~/.gemini',
  '~/.config/portcullis',
  '~/.local/share/portcullis',
  '~/.local/state/portcullis',
  // Browsers and password managers
  '~/.mozilla',
  '~/.config/google-chrome',
  '~/.config/chromium',
  '~/.config/BraveSoftware',
  '~/.config/microsoft-edge',
  '~/.config/1Password',
  '~/.config/Bitwarden',
  '~/Library/Application Support/Google/Chrome',
  '~/Library/Application Support/Firefox',
  '~/Library/Keychains',
  '~/Library/Cookies',
  // Typed passwords end up here
  '~/.bash_history',
  '~/.zsh_history',
  '~/.psql_history',
  '~/.mysql_history',
  '~/.node_repl_history',
  // A run as root must not hand out what only root may read
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssl/private',
  '/etc/ssh/ssh_host_ecdsa_key',
  '/etc/ssh/ssh_host_ed25519_key',
  '/etc/ssh/ssh_host_rsa_key',
  '/etc/kubernetes',
  '/var/lib/kubelet',
  '/var/lib/docker',
  '/var/lib/containerd',
  '/var/spool/cron',
]
