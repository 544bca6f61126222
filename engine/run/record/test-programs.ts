/** Programs that don't run tests, even if their arguments name test files. */
export const readers: ReadonlySet<string> = new Set(
  `[ apply_patch awk cat cd chmod chown cp curl diff echo export file find gh git glab grep head jq less ls mkdir more mv printf pwd rg rm rmdir sed sort stat tail
   tee test touch tree type uniq wc which wget`.split(/\s+/),
)

/** Programs that check something other than tests. */
export const checkers: ReadonlySet<string> = new Set(
  `biome black clippy eslint flake8 gofmt golangci-lint mypy oxlint prettier pylint pyright rubocop ruff rustfmt shellcheck stylelint tsc vet`.split(
    /\s+/,
  ),
)

/** Subcommands of package managers that run no tests: they install, remove or list packages, or set something up. */
export const installing: ReadonlySet<string> = new Set([
  'install',
  'i',
  'ci',
  'add',
  'remove',
  'view',
  'ls',
  'init',
  'config',
  'version',
  'publish',
  'pack',
])
/** Package managers. */
export const packages: ReadonlySet<string> = new Set([
  'npm',
  'pnpm',
  'yarn',
  'bun',
  'pip',
  'pip3',
  'apt',
  'apt-get',
  'brew',
  'uv',
])

/** Package managers that run scripts by their names, so that only the name says whether a script tests something. */
export const scripted: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'bun'])

/** Programs that run tests only with certain arguments, although other arguments may contain the word "test". */
export const runsTests: Readonly<Record<string, RegExp>> = {
  cargo: /^(?:test|t|nextest|llvm-cov|tarpaulin|miri test)\b/,
  cmake: /(?:^| )(?:test|check)$/,
  deno: /^(?:test|task test)\b/,
  docker: /^(?:run|exec|compose)\b.*test/,
  go: /^test\b/,
  podman: /^(?:run|exec|compose)\b.*test/,
  terraform: /^test\b/,
}

/** Programs that can run tests even if their command doesn't contain the word "test", and the arguments that make them do so. */
export const runners: Readonly<Record<string, RegExp>> = {
  behave: /^/,
  busted: /^/,
  cucumber: /^/,
  dbt: /^build\b/,
  ginkgo: /^/,
  gradle: /\bbuild\b/,
  gradlew: /\bbuild\b/,
  mvn: /\b(?:install|package|verify)\b/,
  mvnw: /\b(?:install|package|verify)\b/,
  pest: /^/,
  prove: /^/,
  rake: /^$|\b(?:default|spec|test)\b/,
  trial: /^/,
}

/** Programs that, with the given arguments, only check the syntax of files or compile them, even if the files are tests. */
export const syntaxChecks: Readonly<Record<string, RegExp>> = {
  bash: /^-n\b/,
  luac: /^/,
  node: /^(?:-c|--check)\b/,
  perl: /^-\w*c\b/,
  php: /^-l\b/,
  python: /^-m (?:py_compile|compileall|ast|tabnanny)\b/,
  python3: /^-m (?:py_compile|compileall|ast|tabnanny)\b/,
  ruby: /^-\w*c\b/,
  sh: /^-n\b/,
  zsh: /^-n\b/,
}
