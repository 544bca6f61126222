/**
 * The places where programs store credentials, as lower-case parts of paths. Generated from the sandbox's table (`sandbox/protected/`), because this
 * folder must not import anything from there. A test generates the list again and compares the two.
 */
export const credentialPlaces: readonly string[] = listOf(`
  .1password | .2fa | .age | .aider | .aliyun | .amazon-q | .anaconda | .android/adbkey | .android/debug.keystore
  .ansible/galaxy_token | .ansible_vault | .anthropic | .appstoreconnect | .appwrite | .aptos | .argocd | .ash_history
  .authinfo | .authinfo.gpg | .authy | .aws | .azure | .b2_account_info | .bash_history | .bash_sessions | .bazaar
  .bitcoin | .bitmonero | .bitwarden-ssh-agent.sock | .bluemix | .boto | .boundary | .brownie/accounts
  .bun_repl_history | .bundle/config | .bunfig.toml | .cache/cliphist | .cache/git/credential
  .cache/huggingface/stored_tokens | .cache/huggingface/token | .cache/zsh/history | .cargo/credentials
  .cargo/credentials.toml | .cassandra | .chef | .circleci/cli.yml | .civo.json | .claude-code-router | .claude.json
  .clickhouse-client | .clickhouse-client-history | .cloudflare | .cloudflared | .cockroach-certs | .comet.config
  .composer/auth.json | .conan/.conan.db | .conan2/credentials.json | .condarc | .config/.jira | .config/.wrangler
  .config/1password | .config/aerc | .config/age | .config/aichat | .config/amp | .config/anthropic
  .config/antigravity | .config/arc | .config/argocd | .config/atlascli | .config/atuin | .config/aws
  .config/bitbucket | .config/bitwarden | .config/bitwarden cli | .config/borg | .config/bravesoftware | .config/bruno
  .config/cachix | .config/chromium | .config/claude | .config/cloudflare | .config/code | .config/code - insiders
  .config/code - oss | .config/codex | .config/com.vercel.cli | .config/composer/auth.json | .config/configstore
  .config/containers/auth.json | .config/containers/registries.conf | .config/copilot | .config/copyq | .config/crush
  .config/curlrc | .config/cursor | .config/dart | .config/dashlane | .config/datadog | .config/davfs2
  .config/deluge/auth | .config/deno | .config/discord | .config/doctl | .config/element | .config/emacs/auth
  .config/enpass | .config/environment.d | .config/erlang/.erlang.cookie | .config/evolution | .config/exodus
  .config/exoscale | .config/fabric | .config/filezilla | .config/fish/fish_history | .config/fish/fish_variables
  .config/fly | .config/gcloud | .config/gh | .config/git/credentials | .config/github-copilot | .config/glab-cli
  .config/goa-1.0 | .config/google | .config/google-chrome | .config/google-chrome-beta | .config/google-cloud
  .config/goose | .config/gopass | .config/grafanactl | .config/groq | .config/hatch | .config/hcloud | .config/helm
  .config/heroku | .config/hex | .config/hexchat | .config/himalaya | .config/httpie | .config/hub | .config/hut
  .config/insomnia | .config/io.datasette.llm | .config/ionosctl | .config/irssi | .config/isyncrc | .config/jetbrains
  .config/k9s | .config/kaggle | .config/keepass | .config/keepassxc | .config/kiro | .config/kopia | .config/kwalletrc
  .config/ledger live | .config/lftp | .config/libaccounts-glib | .config/linode-cli | .config/litecli | .config/lpass
  .config/microsoft | .config/microsoft-edge | .config/mistral | .config/mods | .config/mongodb | .config/mozilla
  .config/msmtp | .config/mutt | .config/mycli | .config/neomutt | .config/neonctl | .config/net.imput.helium
  .config/netlify | .config/nextcloud | .config/ngrok | .config/npm/npmrc | .config/nuget
  .config/nushell/history.sqlite3 | .config/nushell/history.txt | .config/obs-studio | .config/ocm | .config/op
  .config/openai | .config/opencode | .config/openlens | .config/openstack | .config/opentofu | .config/openvpn
  .config/opera | .config/oras | .config/pdm | .config/pgcli | .config/pip/pip.conf | .config/pki | .config/planetscale
  .config/pnpm/auth.ini | .config/pnpm/rc | .config/portcullis | .config/postman | .config/protonpass
  .config/pulse/cookie | .config/pulumi | .config/putty | .config/pypirc | .config/pypoetry | .config/rbw
  .config/rclone | .config/rclone-browser | .config/rebar3/hex.config | .config/remmina | .config/render
  .config/replicate | .config/restic | .config/runpod | .config/rustic | .config/s3cmd | .config/scw | .config/shell_gpt
  .config/shopify | .config/signal | .config/slack | .config/snowflake | .config/snyk | .config/solana | .config/sops
  .config/sourcery | .config/stripe | .config/supabase | .config/syncthing | .config/tailscale | .config/tea
  .config/teams | .config/teleport | .config/thunderbird | .config/tigervnc | .config/totp | .config/trae
  .config/turso | .config/twilio-cli | .config/uv/credentials | .config/vastai | .config/vdirsyncer | .config/vercel
  .config/vivaldi | .config/vscodium | .config/wandb | .config/weechat | .config/windsurf | .config/wrangler
  .config/yandex-cloud | .config/yubico | .config/zed | .config/zoomus.conf | .config/zsh/.zsh_history | .consul-token
  .continuum | .cosign | .crc | .curlrc | .cvspass | .dashlane | .databricks | .databrickscfg | .davfs2 | .dbeaver
  .dbeaver4 | .dbshell | .dbt | .deno/credentials | .deno_history | .docker | .dockercfg | .dogrc | .doppler | .dropbox
  .duckdb_history | .duplicity | .earthly | .eas | .electrum | .elvish | .emacs.d/auth | .erlang-history
  .erlang.cookie | .esd_auth | .ethereum | .expo | .fetchmailrc | .filezilla | .fly | .foundry/keystores | .gcloud
  .gcm | .gdb_history | .gem/credentials | .gemrc | .getmail | .ghci_history | .git-credential-cache | .git-credentials
  .gnupg | .google_authenticator | .gradle/gradle.properties | .gsutil | .guile_history | .hcloud | .helm | .heroku
  .hex | .histfile | .httpie | .huggingface | .iceauthority | .identityservice | .infisical | .influx_history
  .influxdbv2 | .ipython/profile_default/history.sqlite | .irb_history | .irbrc_history | .irssi | .ivy2/.credentials
  .java/.userprefs | .jfrog | .jshell_history | .julia/logs | .julia/servers | .jupyter/jupyter_notebook_config.json
  .jupyter/jupyter_server_config.json | .k3d | .k5login | .kaggle | .kde/share/apps/kwallet | .keepass | .keystore
  .krb5 | .krb5cc | .ksh_history | .kube | .lambda_cloud | .lein/credentials.clj | .lesshst | .lftp | .lftprc
  .librewolf | .linode-cli | .litecoin | .lmstudio | .local/share/amazon-q | .local/share/amp | .local/share/atuin
  .local/share/clipit | .local/share/clipman.json | .local/share/com.vercel.cli | .local/share/crush
  .local/share/cursor-agent | .local/share/dbeaverdata | .local/share/evolution | .local/share/fish
  .local/share/gem/credentials | .local/share/gnome-online-accounts | .local/share/goose | .local/share/gopass
  .local/share/irb | .local/share/jupyter/runtime | .local/share/keyrings | .local/share/kiro-cli | .local/share/kwallet
  .local/share/kwalletd | .local/share/lastpass | .local/share/lftp | .local/share/mcfly | .local/share/nano
  .local/share/nu/history.txt | .local/share/nvim/shada | .local/share/opencode | .local/share/pgcli
  .local/share/portcullis | .local/share/powershell | .local/share/rbw | .local/share/recently-used.xbel
  .local/share/remmina | .local/share/telegramdesktop | .local/share/uv/credentials | .local/share/xonsh
  .local/share/zed | .local/share/zsh | .local/state/elvish | .local/state/lesshst | .local/state/nvim
  .local/state/portcullis | .local/state/python | .local/state/python_history | .local/state/syncthing
  .local/state/zsh | .lpass | .lua_history | .luarocks | .m2/settings-security.xml | .m2/settings.xml | .mailrc
  .mariadb_history | .mbsyncrc | .mc | .minikube | .minisign | .mlflow/credentials | .modal.toml | .monero | .mongodb
  .mongodb/mongosh | .mongorc.js | .mozilla | .msmtprc | .mutt | .muttrc | .my.cnf | .mycli-history | .myclirc
  .mylogin.cnf | .mysql_history | .nano_history | .ncftp | .near-credentials | .neptune | .netlify | .netrc | .netrc.gpg
  .newrelic | .ngrok | .ngrok2 | .node_repl_history | .nomad-token | .npmrc | .nuget/nuget | .oauth-keys.env | .oci
  .octave_hist | .offlineimaprc | .okta | .okteto | .ollama/id_ed25519 | .op | .openai | .openstack | .openvpn
  .ossutilconfig | .ovh.conf | .p4tickets | .pam_environment | .passwd-s3fs | .password-store | .pause
  .pg_service.conf | .pgadmin | .pgpass | .php_history | .pip/pip.conf | .pki | .platformio/appstate.json | .postman
  .prefect/profiles.toml | .private_keys | .pry_history | .psql_history | .pub-cache/credentials.json | .pulse-cookie
  .pulumi | .puppet | .puppetlabs | .purple | .putty | .pypirc | .python-gitlab.cfg | .python_history | .railway
  .rancher | .rclone.conf | .rediscli_auth | .rediscli_history | .remmina | .render | .renviron | .replicate | .rhistory
  .runpod | .s3cfg | .s3ql | .saml2aws | .sbt/.credentials | .sbt/credentials | .scala_history | .semgrep | .sentryclirc
  .serverlessrc | .sh_history | .signify | .sigstore | .smbcredentials | .snowflake | .snowsql | .sonar | .sonarlint
  .sqlite_history | .ssh | .step | .streamlit/secrets.toml | .subversion | .sui | .supabase | .talos | .tccli
  .terraform.d | .terraformrc | .thunderbird | .tofurc | .tor-browser | .travis/config.yml | .trc | .tsh | .twilio-cli
  .units_history | .usql_history | .valkeycli_history | .var/app | .vast_api_key | .vault | .vault-token | .vault_pass
  .vault_pass.txt | .vault_password | .vercel | .vibe | .viminfo | .vnc | .vscode-server/data | .vultr-cli.yaml
  .wakatime.cfg | .wandb | .waterfox | .weechat | .wget-hsts | .wgetrc | .wireguard | .wrangler | .xauthority | .xchat2
  .xonsh_history | .yarnrc | .yarnrc.yml | .yubico | .zcash | .zen | .zhistory | .zsh_history | .zsh_sessions | .zuliprc
  etc/ansible/vault | etc/apt/auth.conf | etc/apt/auth.conf.d | etc/buildkite-agent | etc/ceph | etc/cifs-credentials
  etc/cifs.cred | etc/containers/auth.json | etc/corosync/authkey | etc/credstore | etc/credstore.encrypted
  etc/crypttab | etc/datadog-agent | etc/davfs2/secrets | etc/ddclient.conf | etc/doas.conf | etc/docker/key.json
  etc/dovecot/dovecot-sql.conf.ext | etc/dovecot/users | etc/exim4/passwd.client | etc/gitlab-runner
  etc/gitlab/gitlab-secrets.json | etc/gshadow | etc/gshadow- | etc/hostapd/hostapd.conf | etc/icinga2/constants.conf
  etc/ipsec.d | etc/ipsec.secrets | etc/krb5.keytab | etc/krb5kdc | etc/kubernetes | etc/ldap.secret
  etc/ldap/slapd.conf | etc/letsencrypt | etc/libnss-ldap.secret | etc/machine-id.secret | etc/master.passwd
  etc/msmtprc | etc/mysql/debian.cnf | etc/netplan | etc/netrc | etc/networkmanager/system-connections | etc/npmrc
  etc/nut/upsd.users | etc/openldap/slapd.conf | etc/openvpn | etc/pacemaker/authkey | etc/pam_ldap.secret
  etc/passwd-s3fs | etc/phpmyadmin/config-db.php | etc/pki/tls/private | etc/postfix/sasl_passwd | etc/ppp/chap-secrets
  etc/ppp/pap-secrets | etc/pve/priv | etc/rancher | etc/rndc.key | etc/rsyncd.secrets | etc/samba/credentials
  etc/samba/smbpasswd | etc/security/opasswd | etc/shadow | etc/shadow- | etc/ssh/ssh_host_dsa_key
  etc/ssh/ssh_host_ecdsa_key | etc/ssh/ssh_host_ed25519_key | etc/ssh/ssh_host_rsa_key | etc/ssl/private | etc/sudoers
  etc/sudoers.d | etc/vault.d | etc/wireguard | etc/wpa_supplicant | etc/zabbix/zabbix_agentd.psk
  library/application support/1password | library/application support/bravesoftware | library/application support/claude
  library/application support/code | library/application support/cursor | library/application support/firefox
  library/application support/google/chrome | library/containers | library/cookies | library/group containers
  library/keychains | library/mail | library/messages | library/safari | root/.docker | root/anaconda-ks.cfg
  root/original-ks.cfg | run/cloud-init/instance-data-sensitive.json | var/backups/gshadow.bak | var/backups/shadow.bak
  var/cache/debconf/passwords.dat | var/crash | var/lib/acme | var/lib/amazon/ssm | var/lib/caddy | var/lib/cloud/data
  var/lib/cloud/instance | var/lib/cloud/instances | var/lib/containerd | var/lib/containers | var/lib/docker
  var/lib/etcd | var/lib/iwd | var/lib/jenkins/credentials.xml | var/lib/jenkins/secrets | var/lib/krb5kdc
  var/lib/kubelet | var/lib/mongodb | var/lib/mysql | var/lib/networkmanager/secret_key | var/lib/postgresql
  var/lib/rancher | var/lib/redis | var/lib/samba/private | var/lib/sss | var/lib/systemd/coredump
  var/lib/systemd/credential.secret | var/lib/tailscale | var/lib/waagent | var/log/installer/cdebconf | var/mail
  var/snap/microk8s | var/spool/at | var/spool/cron | var/spool/mail
`)

function listOf(text: string): readonly string[] {
  return text.split(/[|\n]/).flatMap((part) => part.trim() || [])
}
