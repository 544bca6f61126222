import { relative } from 'node:path'
import { isWithin } from '../paths.ts'
import { wildcard } from '../wildcard.ts'
import { protectedTable } from './protected-table.ts'

/**
 * Files that programs run, or that control programs, when somebody continues to work in a project or when the project's CI runs. They are not
 * protected, since tasks often have to change them, but a run that changes them reports it. Each line has the form `program | source | name | name
 * …`. A name means a file of that name in any directory. A name with a slash at the end means everything in a directory of that name. `*` means any
 * text without a slash.
 */
const code = `
npm | https://docs.npmjs.com/cli/using-npm/scripts | package.json | .npmrc | npm-shrinkwrap.json
Yarn | https://yarnpkg.com/configuration/yarnrc | .yarnrc | .yarnrc.yml | .yarn/releases/ | .yarn/plugins/ | .pnp.cjs | .pnp.loader.mjs | yarn.config.cjs
pnpm | https://pnpm.io/pnpmfile | .pnpmfile.cjs | .pnpmfile.mjs | pnpm-workspace.yaml
Bun | https://bun.com/docs/runtime/bunfig | bunfig.toml | .bunfig.toml
Deno | https://docs.deno.com/runtime/fundamentals/configuration | deno.json | deno.jsonc
JavaScript tools | https://vite.dev/config | *.config.js | *.config.cjs | *.config.mjs | *.config.ts | *.config.cts | *.config.mts | .*rc.js | .*rc.cjs | .*rc.mjs | .*rc.ts | karma.conf.js | wdio.conf.js | gulpfile.* | Gruntfile.*
lint-staged | https://github.com/lint-staged/lint-staged#configuration | .lintstagedrc | .lintstagedrc.*
pre-commit | https://pre-commit.com/#adding-pre-commit-plugins-to-your-project | .pre-commit-config.yaml | .pre-commit-hooks.yaml
Lefthook | https://lefthook.dev/configuration | lefthook.yml | lefthook.yaml | lefthook.toml | .lefthook.yml | .lefthook/ | lefthook-local.* | .lefthook-local.*
Overcommit | https://github.com/sds/overcommit | .overcommit.yml | .git-hooks/
git | https://git-scm.com/docs/gitattributes | .gitattributes | .gitmodules
make | https://www.gnu.org/software/make/manual/html_node/Makefile-Names.html | Makefile | Makefile.* | GNUmakefile | BSDmakefile | *.mk | *.mak
just | https://just.systems/man/en | justfile | .justfile | *.just
Task | https://taskfile.dev/reference/schema | Taskfile.yml | Taskfile.yaml | Taskfile.dist.yml | Taskfile.dist.yaml
mise | https://mise.jdx.dev/tasks | .mise-tasks/ | mise-tasks/ | .config/mise/ | mise.*.toml | .mise.*.toml
CMake | https://cmake.org/cmake/help/latest/manual/cmake-presets.7.html | CMakeLists.txt | *.cmake | CMakePresets.json | CMakeUserPresets.json
Meson and Ninja | https://mesonbuild.com/Syntax.html | meson.build | meson_options.txt | build.ninja
Autotools | https://www.gnu.org/software/autoconf/manual | configure | configure.ac | configure.in | Makefile.am | Makefile.in | autogen.sh | bootstrap.sh
SCons and Waf | https://scons.org/doc/production/HTML/scons-user.html | SConstruct | SConscript | wscript
xmake and Premake | https://xmake.io | xmake.lua | premake5.lua
Bazel, Buck and Pants | https://bazel.build/concepts/build-files | BUILD | BUILD.bazel | WORKSPACE | WORKSPACE.bazel | MODULE.bazel | *.bzl | .bazelrc | .bazeliskrc | BUCK | .buckconfig | pants.toml | tools/bazel
Nix | https://nix.dev/concepts/flakes | flake.nix | shell.nix | default.nix | devenv.nix | devbox.json
GitHub Actions | https://docs.github.com/actions/reference/workflow-syntax-for-github-actions | .github/workflows/ | .github/actions/ | .github/scripts/ | action.yml | action.yaml | .github/dependabot.yml
GitLab CI | https://docs.gitlab.com/ci/yaml | .gitlab-ci.yml | *.gitlab-ci.yml | .gitlab/
Gitea and Forgejo | https://docs.gitea.com/usage/actions/overview | .gitea/workflows/ | .forgejo/workflows/
CircleCI | https://circleci.com/docs/configuration-reference | .circleci/
Jenkins | https://www.jenkins.io/doc/book/pipeline/jenkinsfile | Jenkinsfile | Jenkinsfile.* | *.jenkinsfile
Azure Pipelines | https://learn.microsoft.com/azure/devops/pipelines/yaml-schema | azure-pipelines*.yml | azure-pipelines*.yaml | .azure-pipelines/ | .pipelines/
Travis CI | https://docs.travis-ci.com | .travis.yml
Bitbucket Pipelines | https://support.atlassian.com/bitbucket-cloud/docs/bitbucket-pipelines-configuration-reference | bitbucket-pipelines.yml
Buildkite | https://buildkite.com/docs/pipelines/configure/defining-steps | .buildkite/ | buildkite.yml
Drone and Woodpecker | https://woodpecker-ci.org/docs/usage/workflow-syntax | .drone.yml | .drone.jsonnet | .drone.star | .woodpecker.yml | .woodpecker.yaml | .woodpecker/
AppVeyor | https://www.appveyor.com/docs/appveyor-yml | appveyor.yml | .appveyor.yml
Cirrus CI | https://cirrus-ci.org/guide/writing-tasks | .cirrus.yml | .cirrus.star
SourceHut | https://man.sr.ht/builds.sr.ht/manifest.md | .build.yml | .builds/
Semaphore, TeamCity, Codefresh | https://docs.semaphoreci.com | .semaphore/ | .teamcity/ | codefresh.yml
Google Cloud Build | https://cloud.google.com/build/docs/build-config-file-schema | cloudbuild.yaml | cloudbuild.yml | cloudbuild.json
AWS CodeBuild | https://docs.aws.amazon.com/codebuild/latest/userguide/build-spec-ref.html | buildspec.yml | buildspec.yaml | appspec.yml
Hosting platforms | https://docs.netlify.com/build/configure-builds/file-based-configuration | netlify.toml | vercel.json | render.yaml | fly.toml | app.json | Procfile | wrangler.toml | wrangler.json | wrangler.jsonc | firebase.json | serverless.yml | serverless.yaml
Renovate | https://docs.renovatebot.com/configuration-options | renovate.json | renovate.json5 | .renovaterc | .renovaterc.json
Docker and Podman | https://docs.docker.com/reference/dockerfile | Dockerfile | Dockerfile.* | *.Dockerfile | Containerfile | Containerfile.* | docker-bake.hcl | docker-bake.json | docker-entrypoint.sh
Compose | https://docs.docker.com/reference/compose-file | compose.yml | compose.yaml | compose.*.yml | compose.*.yaml | docker-compose*.yml | docker-compose*.yaml
Earthly, Skaffold, Tilt | https://docs.tilt.dev | Earthfile | skaffold.yaml | Tiltfile | garden.yml | devspace.yaml
Ansible | https://docs.ansible.com/ansible/latest/reference_appendices/config.html | ansible.cfg | .ansible.cfg
Terraform | https://developer.hashicorp.com/terraform/language/provisioners | *.tf | *.tf.json | terragrunt.hcl
Homebrew | https://docs.brew.sh/Brew-Bundle-and-Brewfile | Brewfile
Debuggers | https://sourceware.org/gdb/current/onlinedocs/gdb.html/objfile_002dgdbdotext-file.html | *-gdb.py | *-gdb.gdb | *-gdb.scm
Desktop entries | https://specifications.freedesktop.org/desktop-entry-spec/latest | *.desktop
Vagrant and Packer | https://developer.hashicorp.com/vagrant/docs/vagrantfile | Vagrantfile | *.pkr.hcl
Python | https://docs.python.org/3/library/site.html | .pdbrc | pyvenv.cfg | sitecustomize.py | usercustomize.py | *.pth | setup.py | setup.cfg | pyproject.toml | MANIFEST.in
pytest | https://docs.pytest.org/en/stable/reference/fixtures.html#conftest-py-sharing-fixtures-across-multiple-files | conftest.py | pytest.ini | .pytest.ini
tox, nox and others | https://tox.wiki/en/latest/config.html | tox.ini | tox.toml | noxfile.py | tasks.py | fabfile.py | dodo.py | manage.py
Jupyter and IPython | https://ipython.readthedocs.io/en/stable/config/intro.html | jupyter_*config.py | ipython_config.py
cargo | https://doc.rust-lang.org/cargo/reference/build-scripts.html | build.rs | .cargo/ | rust-toolchain | rust-toolchain.toml | Makefile.toml
Go | https://magefile.org | magefile.go | magefiles/ | .goreleaser.yml | .goreleaser.yaml | .air.toml | go.work
Ruby | https://ruby.github.io/rake | Rakefile | *.rake | Gemfile | *.gemspec | Guardfile | Capfile | Fastfile | Dangerfile | Podfile | config.ru | .rspec | .irbrc | .pryrc
PHP | https://getcomposer.org/doc/articles/scripts.md | composer.json | .user.ini | phpunit.xml | phpunit.xml.dist | .php-cs-fixer.php | .php-cs-fixer.dist.php
Gradle | https://docs.gradle.org/current/userguide/build_lifecycle.html | *.gradle | *.gradle.kts | gradle.properties | gradlew | gradlew.bat | gradle/wrapper/ | buildSrc/
Maven | https://maven.apache.org/wrapper | pom.xml | mvnw | mvnw.cmd | .mvn/
Ant, sbt, Mill | https://www.scala-sbt.org/1.x/docs/Organizing-Build.html | build.xml | *.sbt | build.mill | build.sc | project/plugins.sbt | .jvmopts | .sbtopts
MSBuild | https://learn.microsoft.com/visualstudio/msbuild/customize-by-directory | *.csproj | *.fsproj | *.vbproj | *.vcxproj | *.props | *.targets | NuGet.config | dotnet-tools.json | build.cake
Leiningen and Clojure | https://codeberg.org/leiningen/leiningen/src/branch/main/sample.project.clj | project.clj | deps.edn | bb.edn | shadow-cljs.edn
Elixir and Erlang | https://hexdocs.pm/mix/Mix.html | mix.exs | .iex.exs | .formatter.exs | rebar.config | rebar.config.script
Haskell, OCaml | https://cabal.readthedocs.io | Setup.hs | Setup.lhs | .ghci | dune | .ocamlinit
Swift, Zig, Dart | https://docs.swift.org/package-manager | Package.swift | build.zig | build_runner.yaml
Perl | https://perldoc.perl.org/ExtUtils::MakeMaker | Makefile.PL | Build.PL
R, Octave and Julia | https://rstats.wtf/r-startup | .Rprofile | .octaverc | configure.win | deps/build.jl
ESLint | https://eslint.org/docs/latest/use/configure | .eslintrc | .eslintrc.json | .eslintrc.yml | .eslintrc.yaml
Babel and Prettier | https://babeljs.io/docs/config-files | .babelrc | .babelrc.json | .prettierrc | .prettierrc.json | .prettierrc.yml | .prettierrc.yaml | .prettierrc.toml
`

/** A program, and the names of the files that it runs. */
type Row = { readonly program: string; readonly source: string; readonly names: readonly string[] }

/**
 * The table of files that programs run later, for display to users. The table doesn't contain protected settings.
 *
 * @example for (const { program, names } of codeThatRunsLater()) console.log(program, names)
 */
export function codeThatRunsLater(): readonly Row[] {
  const lines = code.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const [program = '', source = '', ...names] = line.split(' | ')
    return { program, source, names }
  })
}

/**
 * The program that runs a file of a project, or commands in the file, when somebody continues to work in the project; undefined if the file runs only
 * when somebody asks for it, or never. Upper and lower case are not distinguished.
 *
 * @param path an absolute path inside `root`
 * @example console.log(runsLater('/project/package.json', '/project')) // npm
 */
export function runsLater(path: string, root: string): string | undefined {
  if (!isWithin(path, root)) return undefined
  const parts = relative(root, path).toLowerCase().split('/')
  table ??= readTable()
  const byFirst = parts.flatMap((part, at) => (table?.byFirst.get(part) ?? []).map((name) => ({ name, at })))
  const matching = byFirst.flatMap(({ name, at }) => (isNamed(parts, at, name) ? [name.row] : []))
  for (const name of table.patterns) if (parts.some((_, at) => isNamed(parts, at, name))) matching.push(name.row)
  // If several rows of the table match, the first of them counts.
  return matching.length === 0 ? undefined : table.programs[Math.min(...matching)]
}

/** A name from the table, split into tests for the components of a path. */
type Name = {
  /** A test for each component of the name, in order. */
  readonly parts: readonly ((part: string) => boolean)[]
  /** What the name stands for: the entry itself (`file`), everything inside it, or both. */
  readonly means: 'file' | 'inside' | 'both'
  /** The position, in the table, of the program to which the name belongs. */
  readonly row: number
}

type Table = {
  readonly programs: readonly string[]
  /** The names whose first component contains no `*`. The key is that component. */
  readonly byFirst: ReadonlyMap<string, readonly Name[]>
  readonly patterns: readonly Name[]
}

let table: Table | undefined

function readTable(): Table {
  // Protected settings that can be in any directory are included, because `protected.allow` may let a task change them. Such a path may be a file or a
  // directory.
  const allowed = protectedTable().filter(({ what, at }) => what === 'settings' && at.startsWith('**/'))
  const rows = [
    ...codeThatRunsLater().map(({ program, names }) => ({ program, names, means: 'file' as const })),
    ...allowed.map(({ program, at }) => ({ program, names: [at.slice(3)], means: 'both' as const })),
  ]
  const byFirst = new Map<string, Name[]>()
  const patterns: Name[] = []
  for (const [row, { names, means }] of rows.entries()) {
    for (const text of names) {
      const parts = text.toLowerCase().replace(/\/$/, '').split('/')
      const name = { parts: parts.map(testOf), means: text.endsWith('/') ? ('inside' as const) : means, row }
      const first = parts[0] ?? ''
      if (first.includes('*')) patterns.push(name)
      else byFirst.set(first, [...(byFirst.get(first) ?? []), name])
    }
  }
  return { programs: rows.map(({ program }) => program), byFirst, patterns }
}

function testOf(name: string): (part: string) => boolean {
  return name.includes('*') ? wildcard(name) : (part) => part === name
}

/** Whether the components of a path match a name, starting with the component at index `at`. */
function isNamed(parts: readonly string[], at: number, { parts: tests, means }: Name): boolean {
  const rest = parts.length - at - tests.length
  if (means === 'file' ? rest !== 0 : means === 'inside' ? rest < 1 : rest < 0) return false
  return tests.every((isMatch, offset) => isMatch(parts[at + offset] ?? ''))
}
