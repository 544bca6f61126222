import type { Fact } from '../commands/facts.ts'

/**
 * Variables that can be set in front of a command, or exported, without harm; for `LANG`, `LANGUAGE` and `TZ`, this depends on the value. If a name in
 * capitals is neither listed here nor known to be dangerous, the effect of exporting it is unknown, since any program may read any name.
 */
const harmless = new Set(
  'LANG LANGUAGE TZ NO_COLOR CLICOLOR CLICOLOR_FORCE FORCE_COLOR COLORTERM COLUMNS LINES CI TERM NODE_ENV RAILS_ENV RACK_ENV GO111MODULE CGO_ENABLED GOOS GOARCH RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_AUTHOR_DATE GIT_COMMITTER_DATE DEBIAN_FRONTEND VERBOSE DEBUG GREP_COLOR GREP_COLORS LS_COLORS PAGER_OFF TEST_ENV NODE_NO_WARNINGS NPM_CONFIG_LOGLEVEL'.split(
    ' ',
  ),
)

/**
 * Variables that load code, choose programs, or change where a program looks for its configuration. Other dangerous variables are recognized by the
 * beginning or end of their names.
 */
const dangerous = new Set(
  'PATH IFS ENV EXECIGNORE HOSTFILE HISTFILE INPUTRC FCEDIT MAILPATH MAIL POSIXLY_CORRECT SHELLOPTS BASHOPTS PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND CDPATH GLOBIGNORE FIGNORE FPATH ZDOTDIR EDITOR VISUAL BROWSER SHELL CLASSPATH CC CXX CPP AR RANLIB CFLAGS LDFLAGS TAR_OPTIONS GZIP ZIPOPT RIPGREP_CONFIG_PATH GREP_OPTIONS KUBECONFIG HOME TMPDIR WGETRC LOCPATH NLSPATH GCONV_PATH EXINIT VIMINIT TERMCAP AWKPATH AWKLIBPATH'.split(
    ' ',
  ),
)
const dangerousBeginnings =
  'BASH_ LD_ DYLD_ GIT_ LESS MAN NODE_ NPM_ YARN_ PNPM_ BUN_ DENO_ PYTHON PIP_ PERL RUBY GEM_ BUNDLE_ JAVA_ _JAVA_ JDK_ MAVEN_ GRADLE_ GO CARGO_ RUSTC RUSTUP_ MAKE CMAKE_ XZ_ UNZIP ZSTD_ FD_ BAT_ FZF_ DOCKER_ AWS_ XDG_ SSH_ RSYNC_ CURL_ OPENSSL_ SSL_ MALLOC_ GLIBC_ DIFF_ TERMINFO JQ_ SUDO_ DBUS_ PYTEST_ TS_NODE_ ESLINT_ JEST_ WINE QT_ GTK_ ASAN_ OPENAI_ ANTHROPIC_ CODEX_ CLAUDE_ PORTCULLIS_'.split(
    ' ',
  )
const dangerousEnds = 'PAGER _EDITOR _PROXY'.split(' ')

/** Some of the dangerous names, each with the values that don't change what runs. */
const tame: Readonly<Record<string, RegExp>> = {
  PAGER: /^(?:cat)?$/,
  GIT_PAGER: /^(?:cat)?$/,
  MANPAGER: /^(?:cat)?$/,
  GIT_EDITOR: /^(?:true|:)$/,
  EDITOR: /^(?:true|:)$/,
  VISUAL: /^(?:true|:)$/,
  LESS: /^-?[FRXSinM]*$/,
}

const tameNodeOption =
  /^(?:|--(?:max-old-space-size=[0-9]+|no-warnings|enable-source-maps|trace-warnings|no-deprecation|stack-trace-limit=[0-9]+))$/

type VariableEffect = 'harmless' | 'shell-only' | 'unknown' | 'dangerous'

/**
 * The effect of a variable's value on later commands. `exported` tells whether commands can see the variable. A variable that isn't known to affect
 * programs counts as `shell-only` if its name is in lower case or if it isn't exported.
 *
 * @internal
 */
export function effectOfVariable(name: string, value: string | undefined, exported: boolean): VariableEffect {
  if (
    name === 'NODE_OPTIONS' &&
    value
      ?.trim()
      .split(/\s+/)
      .every((option) => tameNodeOption.test(option)) === true
  )
    return 'harmless'
  if (value !== undefined && Object.hasOwn(tame, name) && tame[name]?.test(value) === true) return 'harmless'
  // A time zone that is a path also names a file to load.
  if (name === 'TZ' && /^:?[/.]|\.\./.test(value ?? '/')) return 'unknown'
  // A value of LANGUAGE that contains a path names a file to load.
  if (name === 'LANGUAGE' && value?.includes('/') !== false) return 'unknown'
  // In encodings other than ASCII and UTF-8, a character may end with the byte of a backslash or a quote.
  if (/^(?:LANG$|LC_)/.test(name) && !/^(?:C|POSIX|[a-z]{2,3}(?:_[A-Z]{2})?)?(?:\.utf-?8)?$/i.test(value ?? '?'))
    return 'unknown'
  if (/^(?:LANG$|LC_)/.test(name) && /^[a-z]{2,3}(?:_[A-Z]{2})?$/i.test(value ?? '') && !/^C$/i.test(value ?? ''))
    return 'unknown'
  if (harmless.has(name) || /^LC_[A-Z]+$/.test(name)) return 'harmless'
  if (isDangerous(name) || /proxy|^(?:npm|pip|yarn)_/i.test(name)) return 'dangerous'
  if (!exported && /^[a-z_][a-z0-9_]*$/.test(name)) return 'shell-only'
  return exported && !/^[a-z_][a-z0-9_]*$/.test(name) ? 'unknown' : 'shell-only'
}

/** The effect of assigning to a variable that can change which code runs. */
export function changesCode(name: string): Fact {
  return { class: 'runs-code', reason: `${name}= can change which code runs` }
}

function isDangerous(name: string): boolean {
  return (
    dangerous.has(name) ||
    dangerousBeginnings.some((beginning) => name.startsWith(beginning)) ||
    dangerousEnds.some((end) => name.endsWith(end))
  )
}
