const list = (text: string): readonly string[] => text.split(/[|\n]/).flatMap((part) => part.trim() || [])

/** Folders where programs keep credentials, as parts of a path, in lower case. */
export const sensitiveFolders = list(`
  .ssh | .aws | .gnupg | .azure | .kube | .docker | .password-store | .gcloud | .oci | .terraform.d | .config/gh
  .config/gcloud | .config/hub | .config/op | .config/rclone | .config/sops | .config/git/credentials
  .local/share/keyrings | library/keychains | .mozilla | .config/google-chrome | .config/chromium
  etc/networkmanager/system-connections | etc/wireguard | etc/openvpn | etc/ipsec.d | etc/ssh/keys | .config/doctl
  .config/heroku | .fly | .databricks | .kaggle | .huggingface | .cache/huggingface | .config/configstore
  .config/stripe | .config/netlify | .vercel | .config/hcloud | .config/linode-cli | .minikube/certs | .config/helm
  .ansible | .chef | .puppet | .bundle | .config/pulumi | .pulumi | .config/google-cloud | .config/bitwarden cli
  .config/1password | .local/share/gnome-online-accounts | .config/github-copilot | .config/wrangler | .wrangler
  .config/.wrangler | .config/openstack | .config/scw | .aliyun | .tccli | .bluemix | .railway | .ngrok2 | .config/ngrok
  .jfrog | .expo | .okta | .tsh | .snowflake | .snowsql | .irssi | .filezilla | .config/filezilla | .vnc | .remmina
  .local/share/remmina | .electrum | .ethereum | .config/solana | .near-credentials | .local/share/kwalletd
  .config/age | etc/rancher | etc/pki/tls/private | var/lib/tailscale | .config/goose | .secrets
  .config/io.datasette.llm | run/secrets | etc/ssl/private | etc/sudoers.d | var/lib/docker | .subversion/auth
  .config/glab-cli | .davfs2 | .thunderbird | .config/bravesoftware | .config/microsoft-edge | .config/vivaldi
  .config/slack | .config/signal | .local/share/telegramdesktop | .purple | .local/share/dbeaverdata | .local/share/lftp
  .bazaar | .config/tea | .config/.jira | .config/rbw | .config/yubico | .pki | .kde/share/apps/kwallet
  .brownie/accounts | .foundry/keystores | .aptos | .cloudflared | .supabase | .config/planetscale | .config/turso
  .netlify | .appwrite | .config/yandex-cloud | .config/exoscale | .doppler | .config/aichat | .config/shell_gpt
  .config/cursor | .codeium | .qwen | .config/replicate | .runpod | .mlflow | .prefect | .local/share/jupyter/runtime
  .config/syncthing | .config/borg | .getmail | .config/aerc | .config/himalaya | etc/gitlab-runner
  var/lib/samba/private | etc/davfs2 | var/spool/cron | var/mail | var/spool/mail | .aws.bak | var/lib/kubelet
  var/lib/etcd | etc/ceph
`)

/** Files with credentials, as the ends of a path, in lower case. */
export const sensitiveFiles = list(`
  .netrc | _netrc | .npmrc | .yarnrc.yml | .pypirc | .pgpass | .my.cnf | .git-credentials | .vault-token | .s3cfg
  .boto | .htpasswd | .dockercfg | .envrc | .env | .bash_history | .zsh_history | .python_history | fish_history
  .databrickscfg | .wgetrc | .curlrc | .lftprc | .irbrc_history | .irb_history | .lesshst | .sqlite_history
  .rediscli_history | .mongorc.js | .dbshell | .redisclirc | .config/pip/pip.conf | .local/share/nu/history.txt
  .nuget/nuget.config | .gradle/gradle.properties | .sbt/.credentials | .config/hub | .config/gh/hosts.yml
  .config/nuget/nuget.config | .mc/config.json | .config/exercism/user.json | etc/shadow- | etc/gshadow-
  etc/security/opasswd | etc/ppp/chap-secrets | etc/ppp/pap-secrets | etc/mysql/debian.cnf | etc/rndc.key
  etc/exim4/passwd.client | etc/postfix/sasl_passwd | etc/cups/passwd | .node_repl_history | .psql_history
  .mysql_history | .gem/credentials | .cargo/credentials | .cargo/credentials.toml | .m2/settings.xml
  .composer/auth.json | .codex/auth.json | .terraformrc | .claude/.credentials.json | .claude.json
  .gemini/oauth_creds.json | .config/openai | .anthropic | .pip/pip.conf | id_rsa | id_dsa | id_ecdsa | id_ed25519
  etc/shadow | etc/gshadow | etc/sudoers | etc/krb5.keytab | credentials.json | service-account.json | secrets.json
  secrets.yaml | secrets.yml | dev/mem | dev/kmem | .local/share/opencode/auth.json
  .local/share/com.vercel.cli/auth.json | .config/composer/auth.json | .config/pypoetry/auth.toml | clouds.yaml
  .vultr-cli.yaml | .civo.json | .ossutilconfig | .sentryclirc | .circleci/cli.yml | .travis/config.yml
  .ivy2/.credentials | .lein/credentials.clj | .hex/hex.config | .config/dart/pub-credentials.json
  .nuget/nuget/nuget.config | .yarnrc | .wakatime.cfg | .saml2aws | .dbt/profiles.yml | .mylogin.cnf | .authinfo
  .authinfo.gpg | .msmtprc | .fetchmailrc | .offlineimaprc | .mutt/muttrc | .muttrc | .config/weechat/sec.conf
  .weechat/sec.conf | .xauthority | .bitcoin/wallet.dat | wallet.dat | etc/kubernetes/admin.conf
  etc/wpa_supplicant/wpa_supplicant.conf | etc/ipsec.secrets | var/backups/shadow.bak | var/backups/gshadow.bak
  terraform.tfstate | terraform.tfstate.backup | terraform.tfvars | .vault_pass | .vault_password | .dockerconfigjson
  wp-config.php | .continue/config.json | .continue/config.yaml | .cursor/mcp.json | .aider.conf.yml | state.vscdb
  etc/master.passwd | kubeconfig | .git/config | .streamlit/secrets.toml | .config/containers/auth.json
  .smbcredentials | .histfile | .sh_history | .ash_history | fish_variables | .config/git/config | .cvspass | .p4tickets
  .subversion/servers | .google_authenticator | .ovh.conf | .modal.toml | .comet.config | jupyter_server_config.json
  .mbsyncrc | var/lib/jenkins/credentials.xml | etc/gitlab/gitlab-secrets.json | etc/containers/auth.json
  run/containers/0/auth.json | etc/samba/smbpasswd | etc/msmtprc | etc/dovecot/users | etc/cifs.cred | .vscode/sftp.json
  .idea/webservers.xml | var/lib/networkmanager/secret_key
`)

/** Names of files that hold a secret, whatever folder they are in. */
const secretNames =
  /^\.?[\w.-]*\.env[~_-]?$|^\.+env(?:[~_-]|\.sw.$)|^\.flaskenv$|^\.dev\.vars$|^secrets?\.(?:env|toml|txt|ini|conf|cfg|properties|xml|csv)$|^(?:passwords?|passwd|tokens?|api[-_]?keys?)\.(?:txt|csv|env|ini)$|^\.(?:token|password|passwd|api[-_]?key)s?$|^(?:private|deploy)[-_]key$|_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:ovpn|kdb|agekey|pkcs12)$|^client_secrets?.*\.json$|^service[-_]?account(?:[-_]?key)?\.json$|^(?:gcp|gcloud|google)[-_]?(?:key|credentials)\.json$|^application_default_credentials\.json$|^credentials(?:\.(?:csv|ya?ml|toml|ini|txt|xml))?$|^kubeconfig(?:\.ya?ml)?$|^\.?vault[-_]pass(?:word)?(?:\.txt)?$|^auth\.toml$|^\.clasprc\.json$|^\.ftpconfig$|^sftp-config\.json$|\.tfvars$|^\.(?:npmrc|netrc|pgpass|git-credentials)[~.]/

const exampleNames = /example|sample|template|^(?:test|tests|default|defaults|dist)\.env$/

/** Names that files with credentials have: what patterns are tried on. */
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
/** Names of other files: a pattern that matches one of these too goes for no secret in particular. */
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
/** Whether a pattern means the name of a file that holds no secret. */
export function isOrdinary(matches: (name: string) => boolean): boolean {
  return others.some(matches)
}

const secretEnds = ['key', 'pem', 'env', 'p12', 'pfx', 'tfvars', 'kdbx', 'ppk']
const otherEnds = ['ts', 'json', 'txt', 'yml', 'md', 'c', 'py', 'html']

/** Whether a shell's pattern for a name picks out names of files with credentials. `matches`: whether it means a name. */
export function patternTargetsSecrets(pattern: string, matches: (name: string) => boolean): boolean {
  if (targetsSecrets(matches)) return true
  const stem = pattern.slice(0, Math.max(0, pattern.lastIndexOf('.')))
  if (stem === '' || /[*?[\]]/.test(stem)) return false
  return secretEnds.some((end) => matches(`${stem}.${end}`)) && !otherEnds.some((end) => matches(`${stem}.${end}`))
}

/** Whether a pattern picks out names of files with credentials, rather than names in general. */
export function targetsSecrets(matches: (name: string) => boolean): boolean {
  return secretSamples.some(matches) && !isOrdinary(matches)
}

/** Whether a name in lower case is one that tells of a secret. */
export function isSecretName(name: string): boolean {
  return secretNames.test(name) && !exampleNames.test(name)
}
