/**
 * Files in a home directory that control shells and programs, with names that no project uses. They must not be written in the caller's home
 * directories or in the top directory of a root, which may be somebody's home directory. Each line has the form `program | source | place | place …`,
 * which `readPlaces` parses.
 */
export const startup = `
bash | https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html | ~/.bashrc | ~/.bash_profile | ~/.bash_login | ~/.bash_logout | ~/.bash_aliases | ~/.bash_completion | ~/.inputrc
sh | https://man7.org/linux/man-pages/man1/dash.1.html | ~/.profile | ~/.shrc
zsh | https://zsh.sourceforge.io/Doc/Release/Files.html | ~/.zshenv | ~/.zshrc | ~/.zprofile | ~/.zlogin | ~/.zlogout
zsh | https://zsh.sourceforge.io/Doc/Release/Files.html | ~/.config/zsh | ~/.oh-my-zsh
ksh and csh | https://man7.org/linux/man-pages/man1/ksh.1.html | ~/.kshrc | ~/.mkshrc | ~/.cshrc | ~/.tcshrc
fish | https://fishshell.com/docs/current/language.html#configuration | ~/.config/fish
Nushell | https://www.nushell.sh/book/configuration.html | ~/.config/nushell
Elvish and xonsh | https://xon.sh/xonshrc.html | ~/.config/elvish | ~/.config/xonsh | ~/.xonshrc
X sessions | https://manpages.debian.org/Xsession | ~/.xprofile | ~/.xsession | ~/.xsessionrc | ~/.xinitrc | ~/.xserverrc
PAM | https://man7.org/linux/man-pages/man8/pam_env.8.html | ~/.pam_environment
Desktops | https://specifications.freedesktop.org/autostart-spec/latest | ~/.config/autostart
systemd | https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html | ~/.config/systemd | ~/.config/environment.d | ~/.local/share/systemd
launchd | https://www.launchd.info | ~/Library/LaunchAgents
User programs | https://specifications.freedesktop.org/basedir-spec/latest | ~/.local/bin
git | https://git-scm.com/docs/git-config#FILES | ~/.gitconfig | ~/.config/git
Mercurial | https://www.mercurial-scm.org/doc/hgrc.5.html | ~/.hgrc | ~/.config/hg
Jujutsu | https://jj-vcs.github.io/jj/latest/config | ~/.jjconfig.toml | ~/.config/jj
OpenSSH | https://man.openbsd.org/ssh_config | ~/.ssh | ~/.rhosts | ~/.shosts
ripgrep | https://github.com/BurntSushi/ripgrep/blob/master/GUIDE.md#configuration-file | ~/.ripgreprc
Portcullis | README.md | ~/.config/portcullis | ~/.local/state/portcullis | ~/.local/share/portcullis | ~/.cache/portcullis
`

/** Like the files in `startup`, but with names that projects use too. They are protected only in the caller's home directories. */
export const ofOwnHome = `
PowerShell | https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_profiles | ~/.config/powershell
Starship | https://starship.rs/config | ~/.config/starship.toml | ~/.p10k.zsh
zsh and bash plug-ins | https://github.com/ohmyzsh/ohmyzsh | ~/.zsh | ~/.bashrc.d | ~/.bash.d | ~/.login | ~/.logout
X resources | https://www.x.org/releases/current/doc/man/man1/xrdb.1.xhtml | ~/.Xresources | ~/.Xdefaults | ~/.xbindkeysrc
D-Bus and desktops | https://specifications.freedesktop.org/desktop-entry-spec/latest | ~/.local/share/applications | ~/.local/share/dbus-1
User programs | https://manpages.debian.org/bash | ~/bin | ~/.bin
Rust | https://doc.rust-lang.org/cargo/reference/config.html | ~/.cargo/bin | ~/.cargo/env | ~/.cargo/config.toml | ~/.cargo/config
Go | https://go.dev/ref/mod#environment-variables | ~/go/bin | ~/.config/go
Node | https://docs.npmjs.com/cli/configuring-npm/npmrc | ~/.npmrc | ~/.npm-global | ~/.yarnrc | ~/.yarnrc.yml | ~/.config/yarn | ~/.bun/bin | ~/.deno/bin | ~/.bunfig.toml
Python | https://docs.python.org/3/library/site.html | ~/.pythonrc | ~/.pythonrc.py | ~/.config/pip | ~/.pip | ~/.local/lib | ~/.pypirc | ~/.condarc | ~/.ipython
Ruby | https://docs.ruby-lang.org/en/master | ~/.irbrc | ~/.pryrc | ~/.bundle/config | ~/.gemrc
JVM | https://docs.gradle.org/current/userguide/init_scripts.html | ~/.gradle/init.d | ~/.gradle/init.gradle | ~/.gradle/gradle.properties | ~/.m2/settings.xml | ~/.mavenrc | ~/.sbt
R, Octave and Haskell | https://rstats.wtf/r-startup | ~/.Rprofile | ~/.Renviron | ~/.octaverc | ~/.ghci
Bazel | https://bazel.build/run/bazelrc | ~/.bazelrc
Version managers | https://asdf-vm.com/manage/configuration.html | ~/.asdfrc | ~/.asdf | ~/.tool-versions | ~/.config/mise | ~/.nvm | ~/.pyenv | ~/.rbenv | ~/.sdkman | ~/.volta | ~/.fnm
direnv | https://direnv.net/man/direnv.1.html | ~/.config/direnv | ~/.direnvrc | ~/.local/share/direnv
git | https://git-scm.com/docs/gitattributes | ~/.gitattributes | ~/.git-templates
Terminals | https://man7.org/linux/man-pages/man1/tmux.1.html | ~/.tmux.conf | ~/.tmux | ~/.config/tmux | ~/.screenrc | ~/.config/kitty | ~/.config/alacritty | ~/.config/ghostty | ~/.config/wezterm | ~/.wezterm.lua
Vim | https://vimhelp.org/starting.txt.html#vimrc | ~/.vimrc | ~/.vim | ~/.gvimrc | ~/.config/nvim | ~/.local/share/nvim | ~/.exrc
Emacs | https://www.gnu.org/software/emacs/manual/html_node/emacs/Find-Init.html | ~/.emacs | ~/.emacs.el | ~/.emacs.d | ~/.config/emacs
Other editors | https://docs.helix-editor.com/configuration.html | ~/.nanorc | ~/.config/helix | ~/.config/zed | ~/.config/sublime-text
Visual Studio Code and its forks | https://code.visualstudio.com/docs/configure/settings#_settings-file-locations | ~/.config/Code | ~/.config/Code - OSS | ~/.config/VSCodium | ~/.config/Cursor | ~/.config/Windsurf | ~/.vscode | ~/.vscode-server | ~/.cursor-server | ~/Library/Application Support/Code
JetBrains | https://www.jetbrains.com/help/idea/directories-used-by-the-ide-to-store-settings-caches-plugins-and-logs.html | ~/.config/JetBrains | ~/.local/share/JetBrains | ~/.ideavimrc
Debuggers | https://sourceware.org/gdb | ~/.gdbinit | ~/.config/gdb | ~/.lldbinit
Databases | https://www.postgresql.org/docs/current/app-psql.html | ~/.psqlrc | ~/.sqliterc | ~/.mysqlrc
curl and wget | https://curl.se/docs/manpage.html | ~/.curlrc | ~/.config/curlrc | ~/.wgetrc
ripgrep | https://github.com/BurntSushi/ripgrep/blob/master/GUIDE.md#configuration-file | ~/.config/ripgrep
Mail | https://man7.org/linux/man-pages/man5/aliases.5.html | ~/.forward | ~/.procmailrc | ~/.mailcap
Pagers | https://man7.org/linux/man-pages/man1/less.1.html | ~/.lesskey | ~/.config/lesskey | ~/.lessfilter
Window managers | https://i3wm.org/docs/userguide.html | ~/.config/i3 | ~/.config/sway | ~/.config/hypr | ~/.config/sxhkd
Agents | https://opencode.ai/docs/config | ~/.config/opencode | ~/.config/crush | ~/.config/goose | ~/.config/amp | ~/.config/agents
`
