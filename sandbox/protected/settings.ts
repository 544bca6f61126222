/**
 * Files and folders in a project that tell agents, editors, shells and other programs what to run or what they may do. Commands must not change them.
 * Each line has the form `program | source | place | place …`, which `readPlaces` parses.
 */
export const settings = `
Portcullis | README.md | **/.portcullis
Mercurial | https://www.mercurial-scm.org/doc/hgrc.5.html | **/.hg/hgrc | **/.hg/hgrc-not-shared
Jujutsu | https://jj-vcs.github.io/jj/latest/config | **/.jj/repo/config.toml
Sapling | https://sapling-scm.com/docs/introduction | **/.sl/config
Darcs | https://darcs.net/manual | **/_darcs/prefs/defaults
Codex | https://developers.openai.com/codex/config | **/.codex
Claude Code | https://code.claude.com/docs/en/settings | **/.claude | **/.mcp.json
Agent skills | https://agentskills.io | **/.agents | **/.agent
Gemini CLI | https://geminicli.com/docs/get-started/configuration | **/.gemini
Cursor | https://cursor.com/docs/context/rules | **/.cursor | **/.cursorrules
GitHub Copilot | https://docs.github.com/en/copilot/concepts/agents/coding-agent/about-hooks | **/.github/hooks
GitHub Copilot CLI | https://docs.github.com/en/copilot/how-tos/copilot-cli | **/.copilot | **/.github/copilot
opencode | https://opencode.ai/docs/config | **/opencode.json | **/opencode.jsonc | **/.opencode
Windsurf | https://docs.windsurf.com/windsurf/cascade/hooks | **/.windsurf | **/.windsurfrules | **/.codeium
Kiro | https://kiro.dev/docs/steering | **/.kiro
Roo Code | https://docs.roocode.com/features/custom-instructions | **/.roo | **/.roomodes | **/.roorules
Cline | https://docs.cline.bot/features/hooks | **/.clinerules | **/.cline
Kilo Code | https://kilo.ai/docs | **/.kilocode | **/.kilocodemodes
Qwen Code | https://qwenlm.github.io/qwen-code-docs | **/.qwen
Aider | https://aider.chat/docs/config/aider_conf.html | **/.aider.conf.yml | **/.aider.conf.yaml
Junie | https://www.jetbrains.com/help/junie | **/.junie
Amazon Q | https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug | **/.amazonq
Crush | https://github.com/charmbracelet/crush | **/.crush.json | **/crush.json | **/.crush
Goose | https://block.github.io/goose/docs | **/.goose | **/.goosehints
Continue | https://docs.continue.dev/reference | **/.continue | **/.continuerc.json
Augment | https://docs.augmentcode.com | **/.augment
Amp | https://ampcode.com/manual | **/.amp
Factory | https://docs.factory.ai | **/.factory
Trae | https://docs.trae.ai | **/.trae
Warp | https://docs.warp.dev | **/.warp
iFlow | https://github.com/iflow-ai/iflow-cli | **/.iflow
OpenHands | https://docs.openhands.dev | **/.openhands
Antigravity | https://antigravity.google/docs | **/.antigravity
Plandex | https://docs.plandex.ai | **/.plandex-v2 | **/.plandex
Zencoder | https://docs.zencoder.ai | **/.zencoder
Serena | https://github.com/oraios/serena | **/.serena
Visual Studio Code | https://code.visualstudio.com/docs/configure/settings | **/.vscode/tasks.json | **/.vscode/settings.json | **/.vscode/launch.json | **/.vscode/mcp.json | **/.vscode/extensions.json | **/*.code-workspace
Dev containers | https://containers.dev/implementors/spec | **/.devcontainer | **/.devcontainer.json
JetBrains | https://www.jetbrains.com/help/idea/creating-and-managing-projects.html | **/.idea | **/.run
Zed | https://zed.dev/docs/configuring-zed | **/.zed
Fleet | https://www.jetbrains.com/help/fleet | **/.fleet
Visual Studio | https://learn.microsoft.com/visualstudio/ide | **/.vs
Sublime Text | https://www.sublimetext.com/docs/projects.html | **/*.sublime-project | **/*.sublime-workspace
Vim | https://vimhelp.org/options.txt.html#%27exrc%27 | **/.vimrc | **/.exrc | **/_vimrc | **/_exrc
Neovim | https://neovim.io/doc/user/options.html#%27exrc%27 | **/.nvim.lua | **/.nvimrc
Emacs | https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html | **/.dir-locals*.el
Helix | https://docs.helix-editor.com/configuration.html | **/.helix
Gitpod | https://www.gitpod.io/docs/references/gitpod-yml | **/.gitpod.yml
direnv | https://direnv.net/man/direnv.1.html | **/.envrc | **/.direnv
mise | https://mise.jdx.dev/configuration.html | **/mise.toml | **/.mise.toml | **/mise.local.toml | **/.mise
autoenv | https://github.com/hyperupcall/autoenv | **/.autoenv | **/.autoenv.zsh
lnav, tmuxinator | https://github.com/tmuxinator/tmuxinator | **/.tmuxinator.yml
GDB | https://sourceware.org/gdb/current/onlinedocs/gdb.html/Init-File-in-the-Current-Directory.html | **/.gdbinit
LLDB | https://lldb.llvm.org/man/lldb.html | **/.lldbinit
husky | https://typicode.github.io/husky | **/.husky
githooks | https://git-scm.com/docs/githooks | **/.githooks
`
