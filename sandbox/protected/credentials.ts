/**
 * The places where programs keep secrets and the history of typed commands. Commands can neither read nor write them. Each line has the form
 * `program | source | place | place …`, which `readPlaces` parses.
 */
export const credentials = `
OpenSSH | https://man.openbsd.org/ssh | ~/.ssh
GnuPG | https://www.gnupg.org/documentation/manuals/gnupg/GPG-Configuration.html | ~/.gnupg
age | https://github.com/FiloSottile/age | ~/.age | ~/.config/age
SOPS | https://getsops.io/docs | ~/.config/sops
pass and gopass | https://www.passwordstore.org | ~/.password-store | ~/.local/share/gopass | ~/.config/gopass
GNOME and KDE | https://wiki.gnome.org/Projects/GnomeKeyring | ~/.local/share/keyrings | ~/.local/share/kwalletd
NSS | https://firefox-source-docs.mozilla.org/security/nss | ~/.pki | ~/.config/pki
step | https://smallstep.com/docs/step-cli | ~/.step
minisign and signify | https://jedisct1.github.io/minisign | ~/.minisign | ~/.signify
cosign | https://docs.sigstore.dev | ~/.sigstore | ~/.cosign
Java | https://docs.oracle.com/en/java/javase/21/docs/specs/man/keytool.html | ~/.keystore | ~/.java/.userPrefs
Vault | https://developer.hashicorp.com/vault/docs/commands | ~/.vault-token | ~/.vault
Kerberos | https://web.mit.edu/kerberos/krb5-latest/doc/basic/ccache_def.html | ~/.krb5 | ~/.k5login | ~/.krb5cc
X11 | https://www.x.org/releases/current/doc/man/man1/xauth.1.xhtml | ~/.Xauthority | ~/.ICEauthority
VNC | https://tigervnc.org/doc/vncpasswd.html | ~/.vnc | ~/.config/tigervnc
WireGuard, OpenVPN and others | https://openvpn.net | ~/.openvpn | ~/.config/openvpn | ~/.wireguard | ~/.config/tailscale
AWS | https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-files.html | ~/.aws | ~/.config/aws
Azure | https://learn.microsoft.com/cli/azure | ~/.azure | ~/.IdentityService
Google Cloud | https://cloud.google.com/sdk/docs/configurations | ~/.config/gcloud | ~/.boto | ~/.gsutil | ~/.gcloud | ~/.config/google-cloud
S3 | https://s3tools.org/kb/item14.htm | ~/.s3cfg | ~/.s3ql | ~/.mc | ~/.config/s3cmd | ~/.passwd-s3fs
rclone | https://rclone.org/docs/#config-config-file | ~/.config/rclone | ~/.rclone.conf
Backups | https://borgbackup.readthedocs.io | ~/.config/borg | ~/.config/restic | ~/.config/rustic | ~/.config/kopia | ~/.duplicity
DigitalOcean | https://docs.digitalocean.com/reference/doctl | ~/.config/doctl
Hetzner | https://github.com/hetznercloud/cli | ~/.config/hcloud
Linode, Vultr, Scaleway, Exoscale | https://techdocs.akamai.com/cloud-computing/docs/cli | ~/.config/linode-cli | ~/.linode-cli | ~/.vultr-cli.yaml | ~/.config/scw | ~/.config/exoscale | ~/.civo.json | ~/.ovh.conf | ~/.config/yandex-cloud
Oracle Cloud | https://docs.oracle.com/iaas/Content/API/Concepts/sdkconfig.htm | ~/.oci
IBM Cloud | https://cloud.ibm.com/docs/cli | ~/.bluemix
Alibaba and Tencent Cloud | https://github.com/aliyun/aliyun-cli | ~/.aliyun | ~/.tccli | ~/.hcloud | ~/.ossutilconfig
OpenStack | https://docs.openstack.org/openstacksdk/latest/user/config/configuration.html | ~/.config/openstack | ~/.openstack
Cloudflare | https://developers.cloudflare.com/workers/wrangler | ~/.wrangler | ~/.config/.wrangler | ~/.cloudflared | ~/.cloudflare | ~/.config/cloudflare | ~/.config/wrangler
Kubernetes | https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig | ~/.kube | ~/.config/k9s | ~/.minikube | ~/.config/OpenLens | ~/.k3d | ~/.talos
Helm | https://helm.sh/docs/helm/helm | ~/.config/helm | ~/.helm
Argo CD | https://argo-cd.readthedocs.io | ~/.config/argocd | ~/.argocd
OpenShift and Rancher | https://docs.redhat.com | ~/.config/ocm | ~/.rancher | ~/.crc
Docker | https://docs.docker.com/reference/cli/docker/#docker-cli-configuration-file-configjson-properties | ~/.docker | ~/.dockercfg
Containers | https://github.com/containers/image/blob/main/docs/containers-auth.json.5.md | ~/.config/containers/auth.json | ~/.config/containers/registries.conf
Terraform and OpenTofu | https://developer.hashicorp.com/terraform/cli/config/config-file | ~/.terraform.d | ~/.terraformrc | ~/.tofurc | ~/.config/opentofu
Pulumi | https://www.pulumi.com/docs/iac/cli | ~/.pulumi | ~/.config/pulumi
Ansible | https://docs.ansible.com | ~/.ansible/galaxy_token | ~/.ansible_vault | ~/.vault_pass | ~/.vault_pass.txt | ~/.vault_password
Chef and Puppet | https://docs.chef.io | ~/.chef | ~/.puppetlabs | ~/.puppet
Fly | https://fly.io/docs/flyctl | ~/.fly | ~/.config/fly
Heroku | https://devcenter.heroku.com/articles/authentication | ~/.config/heroku | ~/.heroku
Netlify | https://docs.netlify.com/cli | ~/.config/netlify | ~/.netlify
Vercel | https://vercel.com/docs/cli | ~/.config/vercel | ~/.local/share/com.vercel.cli | ~/.config/com.vercel.cli | ~/.vercel
Railway, Render, Supabase | https://docs.railway.com/guides/cli | ~/.railway | ~/.render | ~/.config/render | ~/.supabase | ~/.config/supabase | ~/.appwrite
Firebase | https://firebase.google.com/docs/cli | ~/.config/configstore
Neon, PlanetScale, Turso | https://neon.com/docs/reference/neon-cli | ~/.config/neonctl | ~/.config/planetscale | ~/.config/turso
Serverless | https://www.serverless.com/framework/docs | ~/.serverlessrc | ~/.serverless
Stripe | https://docs.stripe.com/stripe-cli | ~/.config/stripe
Twilio, SendGrid, Shopify | https://www.twilio.com/docs/twilio-cli | ~/.twilio-cli | ~/.config/twilio-cli | ~/.config/shopify
Salesforce | https://developer.salesforce.com/docs | ~/.sfdx | ~/.sf
Teleport | https://goteleport.com/docs | ~/.tsh | ~/.config/teleport | ~/.okta | ~/.saml2aws
Boundary, Consul, Nomad | https://developer.hashicorp.com | ~/.boundary | ~/.consul-token | ~/.nomad-token
Sentry, Datadog, New Relic | https://docs.sentry.io/cli/configuration | ~/.sentryclirc | ~/.dogrc | ~/.config/datadog | ~/.newrelic | ~/.circleci/cli.yml | ~/.travis/config.yml | ~/.wakatime.cfg
ngrok | https://ngrok.com/docs/agent/config | ~/.ngrok2 | ~/.config/ngrok | ~/.ngrok
Snyk, SonarQube | https://docs.snyk.io/snyk-cli | ~/.config/snyk | ~/.sonar | ~/.sonarlint
Doppler, Infisical | https://docs.doppler.com/docs/cli | ~/.doppler | ~/.infisical
Databricks, Snowflake | https://docs.databricks.com/dev-tools/auth | ~/.databrickscfg | ~/.databricks | ~/.snowsql | ~/.snowflake | ~/.config/snowflake | ~/.dbt
GitHub | https://cli.github.com/manual/gh_auth_login | ~/.config/gh | ~/.config/hub
GitLab | https://docs.gitlab.com/editor_extensions/gitlab_cli | ~/.config/glab-cli | ~/.python-gitlab.cfg
Gitea, Bitbucket, Sourcehut | https://gitea.com/gitea/tea | ~/.config/tea | ~/.config/bitbucket | ~/.config/hut | ~/.config/.jira | ~/.bazaar | ~/.cvspass | ~/.p4tickets
git | https://git-scm.com/docs/git-credential-store#FILES | ~/.git-credentials | ~/.config/git/credentials | ~/.git-credential-cache | ~/.cache/git/credential | ~/.gcm
Subversion | https://svnbook.red-bean.com/en/1.8/svn.advanced.confarea.html | ~/.subversion
curl and Wget | https://curl.se/docs/manpage.html | ~/.curlrc | ~/.config/curlrc | ~/.wgetrc
netrc | https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html | ~/.netrc | ~/_netrc | ~/.netrc.gpg | ~/.authinfo | ~/.authinfo.gpg
npm | https://docs.npmjs.com/cli/configuring-npm/npmrc | ~/.npmrc | ~/.config/npm/npmrc | ~/.config/pnpm/rc | ~/.config/pnpm/auth.ini
Yarn and Bun | https://yarnpkg.com/configuration/yarnrc | ~/.yarnrc | ~/.yarnrc.yml | ~/.bunfig.toml
JSR and Deno | https://docs.deno.com | ~/.deno/credentials | ~/.config/deno
PyPI | https://packaging.python.org/en/latest/specifications/pypirc | ~/.pypirc | ~/.config/pypirc
pip | https://pip.pypa.io/en/stable/topics/configuration | ~/.config/pip/pip.conf | ~/.pip/pip.conf | ~/.config/uv/credentials | ~/.local/share/uv/credentials
Poetry, Hatch, conda | https://python-poetry.org/docs/configuration | ~/.config/pypoetry | ~/.config/hatch | ~/.condarc | ~/.anaconda | ~/.continuum | ~/.config/pdm
cargo | https://doc.rust-lang.org/cargo/reference/config.html#credentials | ~/.cargo/credentials | ~/.cargo/credentials.toml
RubyGems and Bundler | https://guides.rubygems.org/command-reference | ~/.gem/credentials | ~/.local/share/gem/credentials | ~/.bundle/config | ~/.gemrc
Maven | https://maven.apache.org/settings.html | ~/.m2/settings.xml | ~/.m2/settings-security.xml | ~/.lein/credentials.clj | ~/.jfrog
Gradle | https://docs.gradle.org/current/userguide/build_environment.html | ~/.gradle/gradle.properties
sbt and Ivy | https://www.scala-sbt.org/1.x/docs/Publishing.html | ~/.sbt/.credentials | ~/.ivy2/.credentials | ~/.sbt/credentials
Composer | https://getcomposer.org/doc/articles/authentication-for-private-packages.md | ~/.composer/auth.json | ~/.config/composer/auth.json
NuGet | https://learn.microsoft.com/nuget/consume-packages/configuring-nuget-behavior | ~/.nuget/NuGet | ~/.config/NuGet
Hex | https://hexdocs.pm/hex | ~/.hex | ~/.config/hex
Erlang | https://www.erlang.org/doc/system/distributed.html | ~/.erlang.cookie | ~/.config/erlang/.erlang.cookie
Julia, PlatformIO, Sourcery | https://pkgdocs.julialang.org | ~/.julia/servers | ~/.platformio/appstate.json | ~/.config/sourcery
Jupyter servers | https://jupyter-server.readthedocs.io | ~/.local/share/jupyter/runtime | ~/.jupyter/jupyter_server_config.json | ~/.jupyter/jupyter_notebook_config.json
pgAdmin | https://www.pgadmin.org/docs | ~/.pgadmin
lftp | https://lftp.yar.ru/lftp-man.html | ~/.lftp
Okteto, IONOS, Grafana | https://www.okteto.com/docs | ~/.okteto | ~/.config/ionosctl | ~/.config/grafanactl
App Store Connect | https://developer.apple.com/documentation/appstoreconnectapi | ~/.appstoreconnect | ~/.private_keys
isync | https://isync.sourceforge.io/mbsync.html | ~/.config/isyncrc
Zen | https://docs.zen-browser.app | ~/.zen
Environment files | https://www.freedesktop.org/software/systemd/man/latest/environment.d.html | ~/.config/environment.d | ~/.pam_environment
pub | https://dart.dev/tools/pub | ~/.pub-cache/credentials.json | ~/.config/dart
CPAN, CRAN, LuaRocks | https://metacpan.org | ~/.pause | ~/.Renviron | ~/.luarocks
Conan, vcpkg | https://docs.conan.io | ~/.conan/.conan.db | ~/.conan2/credentials.json
Expo, React Native | https://docs.expo.dev | ~/.expo | ~/.eas
Android | https://developer.android.com/studio/publish/app-signing | ~/.android/debug.keystore | ~/.android/adbkey
Quay, Helm registries | https://oras.land | ~/.config/oras
PostgreSQL | https://www.postgresql.org/docs/current/libpq-pgpass.html | ~/.pgpass | ~/.pg_service.conf | ~/.config/pgcli
MySQL | https://dev.mysql.com/doc/refman/8.4/en/option-files.html | ~/.my.cnf | ~/.mylogin.cnf | ~/.config/mycli | ~/.myclirc
MongoDB | https://www.mongodb.com/docs/mongodb-shell | ~/.mongodb | ~/.config/mongodb | ~/.config/atlascli | ~/.mongorc.js
Others | https://redis.io/docs/latest/develop/tools/cli | ~/.rediscli_auth | ~/.cassandra | ~/.clickhouse-client | ~/.influxdbv2 | ~/.cockroach-certs
DBeaver, DataGrip | https://dbeaver.com/docs | ~/.local/share/DBeaverData | ~/.dbeaver | ~/.dbeaver4
Portcullis | README.md | ~/.config/portcullis | ~/.local/share/portcullis | ~/.local/state/portcullis
Codex | https://developers.openai.com/codex/auth | ~/.codex | ~/.config/codex
Claude Code | https://code.claude.com/docs/en/iam | ~/.claude | ~/.claude.json | ~/.config/claude | ~/.config/Claude | ~/.claude-code-router
Gemini CLI | https://geminicli.com/docs/get-started/authentication | ~/.gemini | ~/.antigravity
GitHub Copilot | https://docs.github.com/en/copilot/how-tos/copilot-cli | ~/.copilot | ~/.config/github-copilot | ~/.config/copilot
opencode | https://opencode.ai/docs/providers | ~/.local/share/opencode | ~/.config/opencode | ~/.opencode
Qwen Code | https://qwenlm.github.io/qwen-code-docs | ~/.qwen
Cursor | https://cursor.com/docs/cli | ~/.cursor | ~/.config/cursor | ~/.local/share/cursor-agent
Windsurf | https://docs.windsurf.com | ~/.codeium | ~/.windsurf
Amazon Q and Kiro | https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/command-line.html | ~/.local/share/amazon-q | ~/.amazon-q | ~/.kiro | ~/.local/share/kiro-cli
Aider | https://aider.chat/docs/config/dotenv.html | ~/.aider.conf.yml | ~/.aider | ~/.oauth-keys.env
Crush | https://github.com/charmbracelet/crush | ~/.config/crush | ~/.local/share/crush
Goose | https://block.github.io/goose/docs | ~/.config/goose | ~/.local/share/goose
Amp | https://ampcode.com/manual | ~/.config/amp | ~/.local/share/amp | ~/.amp
Factory, Augment, Continue, Junie | https://docs.factory.ai | ~/.factory | ~/.augment | ~/.continue | ~/.junie | ~/.iflow | ~/.openhands | ~/.cline | ~/.roo | ~/.kilocode
Hugging Face | https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables | ~/.cache/huggingface/token | ~/.cache/huggingface/stored_tokens | ~/.huggingface
OpenAI, Anthropic, Mistral and others | https://llm.datasette.io/en/stable/setup.html | ~/.config/io.datasette.llm | ~/.openai | ~/.config/openai | ~/.anthropic | ~/.config/anthropic | ~/.config/mistral | ~/.vibe | ~/.config/shell_gpt | ~/.ollama/id_ed25519 | ~/.lmstudio | ~/.config/groq | ~/.replicate | ~/.config/fabric | ~/.config/mods | ~/.config/aichat
Weights & Biases, Kaggle | https://docs.wandb.ai | ~/.config/wandb | ~/.wandb | ~/.kaggle | ~/.config/kaggle | ~/.comet.config | ~/.neptune | ~/.modal.toml | ~/.runpod | ~/.config/runpod | ~/.lambda_cloud | ~/.config/vastai | ~/.vast_api_key | ~/.config/replicate | ~/.mlflow/credentials | ~/.prefect/profiles.toml | ~/.streamlit/secrets.toml
Firefox and Thunderbird | https://support.mozilla.org/kb/profiles-where-firefox-stores-user-data | ~/.mozilla | ~/.thunderbird | ~/.config/mozilla | ~/.librewolf | ~/.waterfox | ~/.tor-browser | ~/.config/thunderbird
Chromium-based browsers | https://chromium.googlesource.com/chromium/src/+/main/docs/user_data_dir.md | ~/.config/google-chrome | ~/.config/google-chrome-beta | ~/.config/chromium | ~/.config/BraveSoftware | ~/.config/microsoft-edge | ~/.config/vivaldi | ~/.config/opera | ~/.config/net.imput.helium | ~/.config/Arc
Sandboxed desktop programs | https://docs.flatpak.org/en/latest/sandbox-permissions.html | ~/.var/app | ~/snap
1Password | https://developer.1password.com/docs/cli | ~/.config/1Password | ~/.config/op | ~/.op | ~/.1password
Bitwarden | https://bitwarden.com/help/cli | ~/.config/Bitwarden | ~/.config/Bitwarden CLI | ~/.config/rbw | ~/.local/share/rbw | ~/.bitwarden-ssh-agent.sock
Other password managers | https://keepassxc.org/docs | ~/.config/keepassxc | ~/.keepass | ~/.config/KeePass | ~/.local/share/lastpass | ~/.lpass | ~/.config/lpass | ~/.config/Dashlane | ~/.dashlane | ~/.config/protonpass | ~/.config/Enpass
Authenticators | https://developers.yubico.com | ~/.yubico | ~/.config/Yubico | ~/.google_authenticator | ~/.config/totp | ~/.authy | ~/.2fa
Visual Studio Code and its forks | https://code.visualstudio.com/api/references/vscode-api#SecretStorage | ~/.config/Code | ~/.config/Code - OSS | ~/.config/Code - Insiders | ~/.config/VSCodium | ~/.config/Cursor | ~/.config/Windsurf | ~/.config/Antigravity | ~/.vscode/argv.json | ~/.vscode-server/data | ~/.config/Kiro | ~/.config/Trae
JetBrains | https://www.jetbrains.com/help/idea/reference-ide-settings-password-safe.html | ~/.config/JetBrains | ~/.config/Google
Zed | https://zed.dev/docs | ~/.config/zed | ~/.local/share/zed
Postman, Insomnia, Bruno | https://learning.postman.com | ~/.config/Postman | ~/.config/Insomnia | ~/.config/bruno | ~/.postman | ~/.config/httpie | ~/.httpie
Scanners, caches and builds | https://semgrep.dev/docs/cli-reference | ~/.semgrep | ~/.config/cachix | ~/.config/rebar3/hex.config | ~/.earthly
Calendars, feeds and downloads | https://vdirsyncer.pimutils.org | ~/.config/vdirsyncer | ~/.config/deluge/auth | ~/.b2_account_info | ~/.trc | ~/.zuliprc | ~/.config/obs-studio
Messengers | https://slack.com/help | ~/.config/Slack | ~/.config/discord | ~/.config/Signal | ~/.local/share/TelegramDesktop | ~/.config/Element | ~/.config/teams | ~/.config/Microsoft | ~/.config/weechat | ~/.weechat | ~/.config/hexchat | ~/.xchat2 | ~/.irssi | ~/.config/irssi | ~/.purple | ~/.config/zoomus.conf
Mail | https://neomutt.org/guide | ~/.config/evolution | ~/.local/share/evolution | ~/.muttrc | ~/.mutt | ~/.config/mutt | ~/.config/neomutt | ~/.msmtprc | ~/.config/msmtp | ~/.mbsyncrc | ~/.offlineimaprc | ~/.fetchmailrc | ~/.getmail | ~/.mailrc | ~/.config/himalaya | ~/.config/aerc
Desktop accounts | https://wiki.gnome.org/Projects/GnomeOnlineAccounts | ~/.config/pulse/cookie | ~/.pulse-cookie | ~/.esd_auth | ~/.config/goa-1.0 | ~/.local/share/kwallet | ~/.config/kwalletrc | ~/.config/libaccounts-glib | ~/.config/remmina | ~/.local/share/remmina | ~/.remmina | ~/.local/share/gnome-online-accounts | ~/.kde/share/apps/kwallet
Synchronisation | https://docs.syncthing.net | ~/.config/syncthing | ~/.local/state/syncthing | ~/.dropbox | ~/.config/Nextcloud | ~/.config/filezilla | ~/.config/davfs2 | ~/.davfs2 | ~/.smbcredentials | ~/.config/rclone-browser | ~/.lftprc | ~/.config/lftp | ~/.ncftp | ~/.putty | ~/.config/putty | ~/.filezilla | ~/.local/share/lftp
Wallets | https://bitcoin.org | ~/.bitcoin | ~/.ethereum | ~/.electrum | ~/.config/solana | ~/.foundry/keystores | ~/.config/Exodus | ~/.config/Ledger Live | ~/.monero | ~/.bitmonero | ~/.zcash | ~/.litecoin | ~/.near-credentials | ~/.sui | ~/.aptos | ~/.brownie/accounts
macOS | https://support.apple.com/guide/keychain-access | ~/Library/Keychains | ~/Library/Cookies | ~/Library/Application Support/Google/Chrome | ~/Library/Application Support/Firefox | ~/Library/Application Support/Code | ~/Library/Application Support/Claude | ~/Library/Application Support/BraveSoftware | ~/Library/Application Support/Cursor | ~/Library/Mail | ~/Library/Messages | ~/Library/Safari | ~/Library/Application Support/1Password | ~/Library/Group Containers | ~/Library/Containers
Shells | https://www.gnu.org/software/bash/manual/html_node/Bash-History-Facilities.html | ~/.bash_history | ~/.bash_sessions | ~/.sh_history | ~/.history | ~/.ksh_history | ~/.ash_history
zsh | https://zsh.sourceforge.io/Doc/Release/Options.html#History | ~/.zsh_history | ~/.zhistory | ~/.histfile | ~/.zsh_sessions | ~/.local/share/zsh | ~/.local/state/zsh | ~/.config/zsh/.zsh_history | ~/.cache/zsh/history
fish | https://fishshell.com/docs/current/cmds/history.html | ~/.local/share/fish | ~/.config/fish/fish_history | ~/.config/fish/fish_variables
Nushell, PowerShell, xonsh, Elvish | https://www.nushell.sh/book/configuration.html | ~/.config/nushell/history.txt | ~/.config/nushell/history.sqlite3 | ~/.local/share/powershell | ~/.local/share/xonsh | ~/.xonsh_history | ~/.local/state/elvish | ~/.elvish | ~/.local/share/nu/history.txt
Atuin, McFly | https://docs.atuin.sh | ~/.local/share/atuin | ~/.config/atuin | ~/.local/share/mcfly
Interpreters | https://docs.python.org/3/library/site.html#readline-configuration | ~/.python_history | ~/.local/state/python_history | ~/.local/state/python | ~/.ipython/profile_default/history.sqlite | ~/.node_repl_history | ~/.irb_history | ~/.local/share/irb | ~/.pry_history | ~/.php_history | ~/.lua_history | ~/.Rhistory | ~/.julia/logs | ~/.ghci_history | ~/.guile_history | ~/.scala_history | ~/.jshell_history | ~/.deno_history | ~/.bun_repl_history | ~/.erlang-history | ~/.octave_hist | ~/.irbrc_history
Databases | https://www.postgresql.org/docs/current/app-psql.html | ~/.psql_history | ~/.mysql_history | ~/.mariadb_history | ~/.sqlite_history | ~/.rediscli_history | ~/.dbshell | ~/.mongodb/mongosh | ~/.influx_history | ~/.usql_history | ~/.duckdb_history | ~/.config/litecli | ~/.local/share/pgcli | ~/.mycli-history | ~/.clickhouse-client-history | ~/.valkeycli_history
Pagers and editors | https://man7.org/linux/man-pages/man1/less.1.html | ~/.lesshst | ~/.local/state/lesshst | ~/.viminfo | ~/.local/state/nvim | ~/.local/share/nvim/shada | ~/.nano_history | ~/.local/share/nano | ~/.gdb_history | ~/.wget-hsts | ~/.units_history | ~/.emacs.d/auth | ~/.config/emacs/auth
Clipboards and recent files | https://github.com/hluk/CopyQ | ~/.local/share/recently-used.xbel | ~/.config/copyq | ~/.local/share/clipit | ~/.local/share/clipman.json | ~/.cache/cliphist
Passwords | https://man7.org/linux/man-pages/man5/shadow.5.html | /etc/shadow | /etc/shadow- | /etc/gshadow | /etc/gshadow- | /etc/master.passwd | /etc/security/opasswd | /var/backups/shadow.bak | /var/backups/gshadow.bak | /etc/samba/smbpasswd | /etc/dovecot/users | /etc/msmtprc
sudo | https://www.sudo.ws/docs/man/sudoers.man | /etc/sudoers | /etc/sudoers.d | /etc/doas.conf
TLS | https://wiki.debian.org/Self-Signed_Certificate | /etc/ssl/private | /etc/pki/tls/private | /etc/letsencrypt | /var/lib/acme | /var/lib/caddy
OpenSSH | https://man.openbsd.org/sshd | /etc/ssh/ssh_host_dsa_key | /etc/ssh/ssh_host_ecdsa_key | /etc/ssh/ssh_host_ed25519_key | /etc/ssh/ssh_host_rsa_key
Kerberos | https://web.mit.edu/kerberos/krb5-latest/doc/basic/keytab_def.html | /etc/krb5.keytab | /etc/krb5kdc | /var/lib/krb5kdc | /var/lib/sss
Kubernetes | https://kubernetes.io/docs/setup/best-practices/certificates | /etc/kubernetes | /var/lib/kubelet | /etc/rancher | /var/lib/rancher | /var/lib/etcd | /var/snap/microk8s
Containers | https://docs.docker.com/engine/daemon | /var/lib/docker | /var/lib/containerd | /var/lib/containers | /etc/docker/key.json | /root/.docker | /etc/containers/auth.json
Schedules | https://man7.org/linux/man-pages/man8/cron.8.html | /var/spool/cron | /var/spool/at
Networks | https://networkmanager.dev/docs/api/latest/nm-settings-keyfile.html | /etc/NetworkManager/system-connections | /etc/wireguard | /etc/openvpn | /etc/ipsec.secrets | /etc/ppp/chap-secrets | /etc/ppp/pap-secrets | /etc/wpa_supplicant | /var/lib/iwd | /var/lib/tailscale | /etc/ipsec.d | /etc/rndc.key | /var/lib/NetworkManager/secret_key
Mail | https://www.postfix.org/SASL_README.html | /etc/postfix/sasl_passwd | /var/spool/mail | /var/mail | /etc/exim4/passwd.client
Directories | https://www.openldap.org/doc/admin26/slapdconfig.html | /etc/ldap.secret | /etc/libnss-ldap.secret | /etc/pam_ldap.secret | /etc/openldap/slapd.conf | /etc/ldap/slapd.conf
Clusters and power | https://clusterlabs.org/projects/corosync | /etc/corosync/authkey | /etc/pacemaker/authkey | /etc/pve/priv | /etc/nut/upsd.users
Monitoring | https://docs.datadoghq.com/agent/configuration | /etc/datadog-agent | /etc/zabbix/zabbix_agentd.psk | /etc/icinga2/constants.conf
Installers | https://www.debian.org/doc/manuals/debian-handbook | /var/cache/debconf/passwords.dat | /root/anaconda-ks.cfg | /root/original-ks.cfg | /var/log/installer/cdebconf | /run/cloud-init/instance-data-sensitive.json
Memory | https://www.freedesktop.org/software/systemd/man/latest/coredump.conf.html | /var/lib/systemd/coredump | /var/crash
Access points and names | https://w1.fi/hostapd | /etc/hostapd/hostapd.conf | /etc/netplan | /etc/ddclient.conf | /etc/rsyncd.secrets
Web and mail servers | https://doc.dovecot.org/main/core/config/auth/databases/sql.html | /etc/phpmyadmin/config-db.php | /etc/dovecot/dovecot-sql.conf.ext
Databases | https://wiki.debian.org/MySql | /etc/mysql/debian.cnf | /var/lib/mysql | /var/lib/postgresql | /var/lib/redis | /var/lib/mongodb
Key stores | https://www.freedesktop.org/software/systemd/man/latest/systemd-creds.html | /var/lib/systemd/credential.secret | /etc/credstore | /etc/credstore.encrypted | /etc/machine-id.secret | /etc/crypttab | /etc/vault.d | /etc/ansible/vault
Package managers | https://manpages.debian.org/apt_auth.conf | /etc/apt/auth.conf | /etc/apt/auth.conf.d | /etc/netrc | /etc/npmrc
GitHub Actions and Azure Pipelines | https://docs.github.com/actions/reference/workflows-and-actions/variables | ~/work/_temp
CI agents | https://docs.gitlab.com/runner/configuration/advanced-configuration | /etc/gitlab-runner | /etc/buildkite-agent | /var/lib/jenkins/secrets | /var/lib/jenkins/credentials.xml | /var/lib/cloud/instance | /var/lib/cloud/data | /var/lib/cloud/instances | /var/lib/waagent | /var/lib/amazon/ssm | /etc/gitlab/gitlab-secrets.json
Network shares | https://man7.org/linux/man-pages/man8/mount.cifs.8.html | /etc/cifs-credentials | /etc/samba/credentials | /var/lib/samba/private | /etc/davfs2/secrets | /etc/passwd-s3fs | /etc/cifs.cred | /etc/ceph
`
