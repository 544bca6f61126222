/**
 * The parts of a home directory that commands see in a closed tree: programs and caches of version managers and package managers. Each line has the
 * form `program | source | place | place …`. A place that ends in `/` is a cache, in which programs write even if they only read it. No place is, contains or is inside a place of the table of credentials, which a test checks.
 */
const toolchains = `
Rust | https://doc.rust-lang.org/cargo/guide/cargo-home.html | ~/.cargo/bin | ~/.cargo/registry/ | ~/.cargo/git/ | ~/.cargo/env | ~/.rustup
Go | https://go.dev/ref/mod#module-cache | ~/go/pkg/ | ~/go/bin | ~/.cache/go-build/ | ~/sdk
Node version managers | https://github.com/nvm-sh/nvm | ~/.nvm | ~/.fnm | ~/.local/share/fnm | ~/.volta | ~/.n | ~/.nodenv | ~/.nodebrew
npm | https://docs.npmjs.com/cli/configuring-npm/folders | ~/.npm/_cacache/ | ~/.npm/_npx/ | ~/.npm-global
pnpm | https://pnpm.io/settings#storedir | ~/.local/share/pnpm | ~/.local/share/pnpm/store/ | ~/.cache/pnpm/ | ~/.pnpm-store/
Yarn and Corepack | https://yarnpkg.com/configuration/yarnrc#cacheFolder | ~/.cache/yarn/ | ~/.yarn/berry/ | ~/.cache/node/corepack
Bun and Deno | https://bun.sh/docs/install/cache | ~/.bun/bin | ~/.bun/install | ~/.bun/install/cache/ | ~/.deno/bin | ~/.cache/deno/
Browsers of tests | https://playwright.dev/docs/browsers#managing-browser-binaries | ~/.cache/ms-playwright | ~/.cache/ms-playwright-go | ~/.cache/puppeteer | ~/.cache/Cypress | ~/.cache/selenium
Python | https://docs.python.org/3/library/site.html | ~/.local/lib | ~/.pyenv | ~/.cache/pip/ | ~/.local/share/virtualenvs/ | ~/.virtualenvs
uv | https://docs.astral.sh/uv/reference/storage | ~/.cache/uv/ | ~/.local/share/uv/python | ~/.local/share/uv/tools
pipx, Poetry, Hatch, Rye | https://pipx.pypa.io/stable/how-pipx-works | ~/.local/pipx | ~/.local/share/pipx | ~/.cache/pypoetry/ | ~/.local/share/pypoetry | ~/.local/share/hatch | ~/.rye
conda | https://docs.conda.io/projects/conda/en/stable/user-guide/install | ~/miniconda3 | ~/anaconda3 | ~/miniforge3 | ~/mambaforge | ~/micromamba | ~/.conda/pkgs/
Ruby | https://github.com/rbenv/rbenv | ~/.rbenv | ~/.rvm | ~/.rubies | ~/.gem/ruby/ | ~/.local/share/gem/ruby/ | ~/.bundle/cache/
JVM | https://docs.gradle.org/current/userguide/directory_layout.html | ~/.m2/repository/ | ~/.m2/wrapper/ | ~/.gradle/caches/ | ~/.gradle/wrapper/ | ~/.gradle/jdks | ~/.sdkman/candidates | ~/.jenv | ~/.jabba | ~/.jdks | ~/.ivy2/cache/ | ~/.ivy2/local/ | ~/.sbt/boot/ | ~/.cache/coursier/
Android and Flutter | https://developer.android.com/tools | ~/Android/Sdk | ~/.pub-cache/hosted/ | ~/.pub-cache/bin | ~/flutter
.NET | https://learn.microsoft.com/nuget/consume-packages/managing-the-global-packages-and-cache-folders | ~/.dotnet | ~/.nuget/packages/ | ~/.local/share/NuGet/v3-cache/
PHP | https://getcomposer.org/doc/03-cli.md#composer-cache-dir | ~/.cache/composer/ | ~/.composer/vendor | ~/.composer/cache/ | ~/.config/composer/vendor | ~/.phpenv
Elixir and Erlang | https://hexdocs.pm/mix/Mix.html | ~/.mix/archives | ~/.mix/elixir | ~/.cache/rebar3/ | ~/.kerl
Haskell and OCaml | https://www.haskell.org/ghcup | ~/.ghcup | ~/.cabal/packages/ | ~/.cabal/store/ | ~/.cabal/bin | ~/.stack/programs | ~/.stack/pkgdb/ | ~/.opam
Swift, Zig, Nim, Julia, R | https://www.swift.org/swiftly | ~/.local/share/swiftly | ~/.cache/org.swift.swiftpm/ | ~/.cache/zig/ | ~/.nimble | ~/.juliaup | ~/.julia/packages/ | ~/.julia/artifacts/ | ~/.julia/registries/ | ~/.julia/compiled/ | ~/R
C and C++ | https://ccache.dev | ~/.cache/ccache/ | ~/.ccache/ | ~/.cache/sccache/ | ~/.conan2/p/ | ~/.cache/vcpkg/ | ~/.cache/bazelisk/
Version managers | https://asdf-vm.com | ~/.asdf | ~/.local/share/mise | ~/.proto | ~/.nix-profile | ~/.local/state/nix/profiles | ~/.guix-profile
User programs | https://specifications.freedesktop.org/basedir-spec/latest | ~/.local/bin | ~/bin
Hooks of git | https://pre-commit.com | ~/.cache/pre-commit/
Git | https://git-scm.com/docs/git-config#FILES | ~/.gitconfig | ~/.config/git/config | ~/.config/git/ignore | ~/.config/git/attributes | ~/.gitignore | ~/.gitignore_global
Fonts | https://www.freedesktop.org/software/fontconfig/fontconfig-user.html | ~/.fonts | ~/.local/share/fonts | ~/.cache/fontconfig/
`

/**
 * Environment variables that move places of the table above, or name a toolchain of their own, in lines of the form `variable | place`. A place
 * `~/x` means that the table's places at or below it are at the variable's value; without a place, everything at the value is shown.
 */
const toolchainVariables = `
CARGO_HOME | ~/.cargo
RUSTUP_HOME | ~/.rustup
GOPATH | ~/go
GOMODCACHE | ~/go/pkg
GOCACHE | ~/.cache/go-build
GRADLE_USER_HOME | ~/.gradle
NUGET_PACKAGES | ~/.nuget/packages
PUB_CACHE | ~/.pub-cache
COMPOSER_HOME | ~/.config/composer
PLAYWRIGHT_BROWSERS_PATH | ~/.cache/ms-playwright
PUPPETEER_CACHE_DIR | ~/.cache/puppeteer
GOROOT
JAVA_HOME
JDK_HOME
MAVEN_HOME
M2_HOME
GRADLE_HOME
ANDROID_HOME
ANDROID_SDK_ROOT
ANDROID_NDK_HOME
FLUTTER_ROOT
RUNNER_TOOL_CACHE
AGENT_TOOLSDIRECTORY
NVM_DIR
NVM_BIN
FNM_DIR
FNM_MULTISHELL_PATH
VOLTA_HOME
PNPM_HOME
BUN_INSTALL
PYENV_ROOT
VIRTUAL_ENV
CONDA_PREFIX
RBENV_ROOT
RVM_PATH
SDKMAN_DIR
JENV_ROOT
ASDF_DIR
ASDF_DATA_DIR
MISE_DATA_DIR
DOTNET_ROOT
GHCUP_INSTALL_BASE_PREFIX
OPAMROOT
SSL_CERT_FILE
SSL_CERT_DIR
NODE_EXTRA_CA_CERTS
`

/** A part of a home directory that commands see. `place` begins with `~/`. */
type ToolchainPlace = { readonly program: string; readonly place: string; readonly isCache: boolean }

let known: readonly ToolchainPlace[] | undefined

/** The places of the table. */
export function toolchainPlaces(): readonly ToolchainPlace[] {
  return (known ??= rowsOf(toolchains).flatMap(([program = '', , ...places]) =>
    places.map((place) => ({ program, place: place.replace(/\/$/, ''), isCache: place.endsWith('/') })),
  ))
}

/** The variables, each with the place that it moves; without one if it names a toolchain of its own. */
export function variablesOfToolchains(): readonly { readonly variable: string; readonly place: string | undefined }[] {
  return rowsOf(toolchainVariables).map(([variable = '', place]) => ({ variable, place }))
}

function rowsOf(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' | '))
}
