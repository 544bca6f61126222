import type { Alarm } from './facts.ts'
import type { Place } from './place.ts'
import type { ShellWord } from './shell-word.ts'

const list = (text: string): readonly string[] => text.split(/[|\n]/).flatMap((part) => part.trim() || [])

/** Hidden files and folders, in home directories, that programs use for data other than credentials. Their names are in lower case. */
const ofHomes = list(`
  .bashrc | .bash_profile | .bash_login | .bash_logout | .bash_aliases | .profile | .zshrc | .zprofile | .zshenv | .zlogin
  .inputrc | .vimrc | .vim | .nanorc | .tmux.conf | .screenrc | .dircolors | .editorconfig | .gitconfig | .gitignore
  .gitignore_global | .gitattributes | .config/git/ignore | .config/git/attributes | .config/nvim | .config/helix
  .config/fish/config.fish | .config/fish/functions | .config/fish/conf.d | .config/starship.toml | .config/user-dirs.dirs
  .config/alacritty | .config/kitty | .config/tmux | .config/zed/settings.json | .config/mimeapps.list
  .oh-my-zsh | .emacs | .emacs.d/init.el | .local/bin | .local/lib | .local/share/applications | .local/share/fonts | .local/share/man
  .local/share/mise | .local/share/fnm | .local/share/uv | .local/share/pipx | .local/share/virtualenvs
  .local/share/pnpm | .local/share/icons | .local/share/mime | .local/pipx | .tool-versions | .node-version | .python-version
  .nvmrc | .nvm | .npm/_logs | .npm/_cacache | .npm/_npx | .cache/pip | .cache/pypoetry | .cache/uv | .cache/yarn
  .cache/go-build | .cache/ms-playwright | .cache/node | .cache/pnpm | .cache/ccache | .cache/bazel | .cache/pre-commit
  .cache/cypress | .cache/puppeteer | .cache/typescript | .cache/electron | .cache/torch | .cache/huggingface/hub
  .cargo/registry | .cargo/git | .cargo/bin | .cargo/env | .rustup | .pyenv | .rbenv | .asdf | .volta | .fnm | .sdkman | .jenv
  .bun/install | .bun/bin | .deno | .pnpm-store | .yarn/cache | .yarn/berry | .m2/repository | .m2/wrapper | .gradle/caches
  .gradle/wrapper | .gradle/daemon | .ivy2/cache | .sbt/boot | .nuget/packages | .dotnet | .pub-cache/hosted | .stack/programs
  .ghcup | .opam | .julia/packages | .gem/ruby | .rvm | .cocoapods/repos | .vscode/extensions | .vscode-server/extensions
  .ssh/known_hosts | .codex/agents.md | .codex/prompts | .codex/skills | .claude/claude.md | .claude/commands | .claude/skills
  .claude/agents | .claude/plugins | .agents | .hushlogin | .selected_editor | .conda/environments.txt
  .condarc.d | .jupyter/kernels | .local/share/jupyter/kernels | .terraform.d/plugin-cache | .helm/plugins | .krew
  .config/portcullis/agents.md | .config/portcullis/rules | .config/pre-commit | .config/ripgrep | .ripgreprc | .agignore
  .ignore | .psqlrc | .sqliterc | .gdbinit | .lldbinit | .irbrc | .pryrc | .clang-format | .prettierrc | .eslintrc.json
  library/logs | library/caches/homebrew | library/developer | library/python | library/fonts
`)

/** System configuration files and folders in which programs store no credentials. */
const ofSystems = list(`
  os-release | lsb-release | debian_version | alpine-release | redhat-release | centos-release | fedora-release | arch-release
  system-release | rocky-release | almalinux-release | gentoo-release | suse-release | issue | issue.net | motd | update-motd.d
  hosts | hostname | resolv.conf | nsswitch.conf | host.conf | networks | protocols | services | rpc | hosts.allow | hosts.deny
  passwd | group | shells | subuid | subgid | login.defs | adduser.conf | deluser.conf | nologin | securetty
  timezone | localtime | adjtime | locale.gen | locale.conf | locale.alias | vconsole.conf | default/locale | default/keyboard
  default/grub | default/useradd | default/console-setup | fstab | mtab | filesystems | mke2fs.conf
  ld.so.conf | ld.so.conf.d | ld.so.cache | ld.so.preload | apt/sources.list | apt/sources.list.d | apt/preferences
  apt/preferences.d | apt/apt.conf | apt/trusted.gpg.d | dpkg | apk/repositories | apk/world | apk/arch | yum.conf | dnf/dnf.conf
  pacman.conf | pacman.d | portage | alternatives | profile | profile.d | bash.bashrc | bashrc | bash_completion
  bash_completion.d | zsh | zshrc | skel | inputrc | vim | nanorc | emacs | manpath.config | man_db.conf | terminfo | dircolors
  sysctl.conf | sysctl.d | security/limits.conf | security/limits.d | modules | modules-load.d | modprobe.d | udev | init.d
  rc.d | inittab | logrotate.conf | logrotate.d | cron.daily | cron.hourly | cron.weekly | cron.monthly | anacrontab
  ssh/ssh_config | ssh/ssh_config.d | ssh/sshd_config | ssh/sshd_config.d | ssh/moduli | ssl/certs | ssl/openssl.cnf
  pki/tls/certs | pki/ca-trust | ca-certificates | ca-certificates.conf | crypto-policies | mime.types | magic | magic.mime
  fonts | x11 | xdg | gtk-3.0 | java | python | python3 | perl | ruby | php | gitconfig | gitattributes | nginx | apache2 | httpd
  init | systemd/journald.conf | systemd/logind.conf | systemd/system.conf | systemd/resolved.conf | docker/daemon.json
  containers/policy.json | containerd/config.toml | selinux/config | apparmor | apparmor.d | iproute2 | netconfig | pam.d
  lvm/lvm.conf | machine-id | papersize | environment | cloud/build.info | legal | codex/requirements.toml
`)

/** Files and folders below `/var` and `/run` in which programs store no credentials. */
const ofVariableData = list(`
  log/syslog | log/messages | log/dmesg | log/kern.log | log/boot.log | log/dpkg.log | log/alternatives.log | log/apt | log/nginx
  log/apache2 | log/httpd | log/postgresql | log/mysql | log/journal | log/lastlog | log/wtmp | log/faillog | log/pacman.log
  log/dnf.log | log/yum.log | log/bootstrap.log | log/fontconfig.log | log/unattended-upgrades | log/supervisor | log/daemon.log
  log/docker.log | log/cron.log | log/cron | log/redis | log/xorg.0.log | log/debug | log/user.log
  lib/dpkg | lib/apt | lib/apk | lib/pacman | lib/rpm | lib/dnf | lib/misc | lib/python | lib/ucf | lib/systemd/catalog | db/pkg
  db/xcode_select_link | run/utmp | run/os-release | run/motd.dynamic | utmp | motd.dynamic | systemd/resolve/resolv.conf
  systemd/resolve/stub-resolv.conf | resolvconf/resolv.conf
`)

const homes = /^(?:~[^/]*|\/(?:home|users)\/[^/]+|\/(?:var\/)?root)(?:\/|$)/
const systems = /^(?:\/usr\/local|\/opt\/homebrew)?\/etc(?:\/|$)/
const variableData = /^\/(?:var\/(?=(?:lib|log|spool|mail|backups|db|run|opt|account|crash|snap)(?:\/|$))|run(?:\/|$))/

/**
 * Describes the kind of files to which a path belongs, if files of this kind may contain credentials although no table lists their names: hidden
 * files in home directories, the system's configuration files, and data of system services. Undefined if the path is none of these, or is known to
 * contain no credentials.
 *
 * @param path in lower case and normalized, absolute or from `~`; may be a pattern
 */
function findUnlisted(path: string): string | undefined {
  const clean = path.replace(/^\/private(?=\/)/, '')
  if (/^\/[^/]*[*?[]/.test(clean)) return "the system's files"
  const below = clean.replace(homes, '')
  if (below !== clean) {
    if ((!/^(?:\.|library\/)/.test(below) && !clean.startsWith('/root/')) || /^\.ssh\/[\w.-]+\.pub$/.test(below))
      return undefined
    return isAmong(below, ofHomes) ? undefined : 'the hidden files of a home directory'
  }
  const setting = clean.replace(systems, '')
  if (setting !== clean) {
    if (setting === '' || /^[\w.-]*\*?-?release$/.test(setting) || isAmong(setting, ofSystems)) return undefined
    return /^(?:java|python|perl|php|postgresql)[-\d.]*\//.test(setting)
      ? undefined
      : "the system's configuration files"
  }
  const data = clean.replace(variableData, '')
  if (data === clean || data === '' || data.endsWith('.pid') || isAmong(data, ofVariableData)) return undefined
  return 'the data files of system services'
}

/** Whether a path is one of the known paths, is below one, or is a rotated copy of one (`syslog.1`, `dmesg.0.gz`). */
function isAmong(path: string, known: readonly string[]): boolean {
  return known.some(
    (name) => path === name || path.startsWith(`${name}/`) || (name.startsWith('log/') && path.startsWith(`${name}.`)),
  )
}

/**
 * The alarm about a file that may contain credentials, if there is one among the files that a command reads. The tables list only harmless files, in
 * home directories, among the system's settings and among the data of system services. A file that is missing from the tables therefore causes an
 * additional question rather than a security hole. Files in the workspace are not affected, unless it isn't known whether they are there.
 */
export function unlistedAt(place: Place, files: readonly ShellWord[]): readonly Alarm[] {
  for (const word of files) {
    const text = word.kind === 'dynamic' ? word.prefix : word.text
    if (text === '') continue
    for (const location of place.locations(text)) {
      if (location === undefined) return [said(word, `the folder in which ${word.text} is can't be known`)]
      const path = place.outside(location)?.toLowerCase()
      const found = path === undefined || path.length > 4_096 ? undefined : findUnlisted(path)
      if (found !== undefined) return [said(word, `${word.text} is one of ${found}, and may contain credentials`)]
    }
  }
  return []
}

function said(file: ShellWord, reason: string): Alarm {
  return { kind: 'unlisted-file', reason, file }
}
