/**
 * What an assignment in front of a command, or an export, does. Names that aren't listed are unknown, since any
 * program may read any name.
 */
const harmless =
  /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|CLICOLOR(?:_FORCE)?|FORCE_COLOR|COLORTERM|COLUMNS|LINES|CI|TERM|NODE_ENV|RAILS_ENV|RACK_ENV|GO111MODULE|CGO_ENABLED|GOOS|GOARCH|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONIOENCODING|PYTHONUTF8|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|GIT_AUTHOR_DATE|GIT_COMMITTER_DATE|DEBIAN_FRONTEND|VERBOSE|DEBUG|GREP_COLORS?|LS_COLORS|PAGER_OFF|TEST_ENV|NODE_NO_WARNINGS|NPM_CONFIG_LOGLEVEL)$/

/** Families of names that load code, choose programs or move where a program looks for its configuration. */
const dangerous =
  /^(?:PATH|IFS|ENV|BASH_.*|SHELLOPTS|BASHOPTS|PS[0-4]|PROMPT_COMMAND|CDPATH|GLOBIGNORE|FIGNORE|FPATH|ZDOTDIR|LD_.*|DYLD_.*|GIT_.*|.*PAGER|EDITOR|VISUAL|.*_EDITOR|BROWSER|SHELL|LESS.*|MAN.*|NODE_.*|NPM_.*|YARN_.*|PNPM_.*|BUN_.*|DENO_.*|PYTHON.*|PIP_.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_.*|_JAVA_.*|JDK_.*|MAVEN_.*|GRADLE_.*|CLASSPATH|GO.*|CARGO_.*|RUSTC.*|RUSTUP_.*|CC|CXX|CPP|AR|RANLIB|CFLAGS|LDFLAGS|MAKE.*|CMAKE_.*|TAR_OPTIONS|GZIP|XZ_.*|ZIPOPT|UNZIP.*|ZSTD_.*|RIPGREP_CONFIG_PATH|GREP_OPTIONS|FD_.*|BAT_.*|FZF_.*|DOCKER_.*|KUBECONFIG|AWS_.*|HOME|XDG_.*|TMPDIR|SSH_.*|RSYNC_.*|CURL_.*|WGETRC|.*_PROXY|OPENSSL_.*|SSL_.*|LOCPATH|NLSPATH|GCONV_PATH|MALLOC_.*|GLIBC_.*|DIFF_.*|EXINIT|VIMINIT|TERMINFO.*|TERMCAP|JQ_.*|AWKPATH|AWKLIBPATH|SUDO_.*|DBUS_.*|PYTEST_.*|TS_NODE_.*|ESLINT_.*|JEST_.*|WINE.*|QT_.*|GTK_.*|ASAN_.*|OPENAI_.*|ANTHROPIC_.*|CODEX_.*|CLAUDE_.*|PORTCULLIS_.*)$/

/** Values under which a listed dangerous name changes nothing about what runs. */
const tame: Readonly<Record<string, RegExp>> = {
  NODE_OPTIONS:
    /^(?:\s*--(?:max-old-space-size=[0-9]+|no-warnings|enable-source-maps|trace-warnings|no-deprecation|stack-trace-limit=[0-9]+))*\s*$/,
  PAGER: /^(?:cat)?$/,
  GIT_PAGER: /^(?:cat)?$/,
  MANPAGER: /^(?:cat)?$/,
  GIT_EDITOR: /^(?:true|:)$/,
  EDITOR: /^(?:true|:)$/,
  VISUAL: /^(?:true|:)$/,
  LESS: /^-?[FRXSinM]*$/,
}

type VariableEffect = 'harmless' | 'shell-only' | 'unknown' | 'dangerous'

/**
 * What giving `name` a value does to the commands that run after it. `exported` says whether they can see it: a
 * plain shell variable in lower case, or one that no program is known to look for, stays within the shell.
 */
export function effectOfVariable(name: string, value: string | undefined, exported: boolean): VariableEffect {
  if (value !== undefined && Object.hasOwn(tame, name) && tame[name]?.test(value) === true) return 'harmless'
  // A language with a path in it names a file to load.
  if (/^(?:LANG|LANGUAGE|LC_)/.test(name) && value?.includes('/') !== false) return 'unknown'
  if (harmless.test(name)) return 'harmless'
  if (dangerous.test(name) || /proxy|^(?:npm|pip|yarn)_/i.test(name)) return 'dangerous'
  if (!exported && /^[a-z_][a-z0-9_]*$/.test(name)) return 'shell-only'
  return exported && !/^[a-z_][a-z0-9_]*$/.test(name) ? 'unknown' : 'shell-only'
}
