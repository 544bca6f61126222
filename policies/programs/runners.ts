import { readOnly, unknown, type Alarm } from '../commands/facts.ts'
import { staticText, type ShellWord } from '../commands/shell-word.ts'
import { privilege } from './privileges.ts'
import type { Program, ProgramTable } from './program-table.ts'

/**
 * Programs that run the project's code or code from their arguments. If `version` lists words, the program prints its version when it is given
 * exactly one of them, and does nothing else. For some programs, `version` is missing on purpose: `yarn` and `pnpm` load project configuration before
 * they print their version, and `cargo` and `rustc` start the toolchain that the project names.
 */
const runners: Readonly<Record<string, { readonly source: string; readonly version?: readonly string[] }>> = {
  node: { source: 'node(1)', version: ['--version', '-v'] },
  nodejs: { source: 'node(1)', version: ['--version', '-v'] },
  deno: { source: 'deno --help', version: ['--version', '-V'] },
  bun: { source: 'bun --help', version: ['--version', '-v'] },
  python: { source: 'python(1)', version: ['--version', '-V'] },
  python2: { source: 'python(1)', version: ['--version', '-V'] },
  python3: { source: 'python(1)', version: ['--version', '-V'] },
  ruby: { source: 'ruby(1)', version: ['--version', '-v'] },
  perl: { source: 'perl(1)', version: ['--version', '-v'] },
  php: { source: 'php(1)', version: ['--version', '-v'] },
  lua: { source: 'lua(1)', version: ['-v'] },
  java: { source: 'java(1)', version: ['-version', '--version'] },
  javac: { source: 'javac(1)', version: ['-version', '--version'] },
  gcc: { source: 'gcc(1)', version: ['--version', '-dumpversion', '-dumpmachine'] },
  'g++': { source: 'g++(1)', version: ['--version'] },
  cc: { source: 'cc(1)', version: ['--version'] },
  clang: { source: 'clang(1)', version: ['--version'] },
  make: { source: 'make(1): even -n runs the commands of $(shell)', version: ['--version', '-v'] },
  gmake: { source: 'make(1)', version: ['--version', '-v'] },
  cmake: { source: 'cmake(1)', version: ['--version'] },
  ninja: { source: 'ninja(1)', version: ['--version'] },
  npm: { source: 'npm(1)', version: ['--version', '-v'] },
  npx: { source: 'npx(1)', version: ['--version', '-v'] },
  kubectl: { source: 'kubectl(1)' },
  helm: { source: 'helm(1)' },
  terraform: { source: 'terraform(1)' },
  ansible: { source: 'ansible(1)' },
  'ansible-playbook': { source: 'ansible-playbook(1)' },
  yarn: { source: 'yarn(1), CVE-2025-59828' },
  pnpm: { source: 'pnpm(1): starts the version that package.json names' },
  corepack: { source: 'corepack(1)' },
  cargo: { source: 'cargo(1), rustup: starts the toolchain that rust-toolchain.toml names' },
  rustc: { source: 'rustc(1), rustup' },
  rustup: { source: 'rustup(1)' },
  go: { source: 'go(1): even `go version` starts the toolchain that go.mod names' },
  gradle: { source: 'gradle(1)' },
  mvn: { source: 'mvn(1)' },
  ant: { source: 'ant(1)' },
  bazel: { source: 'bazel(1)' },
  tsc: { source: "tsc: runs the project's own compiler" },
  tsx: { source: 'tsx' },
  eslint: { source: 'eslint: loads the configuration of the project' },
  prettier: { source: 'prettier: loads the configuration of the project' },
  jest: { source: 'jest' },
  vitest: { source: 'vitest' },
  mocha: { source: 'mocha' },
  pytest: { source: 'pytest(1): imports conftest.py even if it only collects tests' },
  tox: { source: 'tox(1)' },
  nox: { source: 'nox(1)' },
  mypy: { source: 'mypy(1): loads plugins' },
  ruff: { source: 'ruff', version: ['--version', '-V'] },
  pip: { source: 'pip(1)', version: ['--version', '-V'] },
  pip3: { source: 'pip(1)', version: ['--version', '-V'] },
  uv: { source: 'uv', version: ['--version', '-V'] },
  poetry: { source: 'poetry' },
  bundle: { source: 'bundle(1)' },
  gem: { source: 'gem(1)', version: ['--version', '-v'] },
  rake: { source: 'rake(1)' },
  composer: { source: 'composer(1)' },
  dotnet: { source: 'dotnet(1): starts the SDK that global.json names' },
  swift: { source: 'swift(1)' },
  just: { source: 'just(1)' },
  task: { source: 'task(1)' },
  osascript: { source: 'osascript(1)' },
}

function runner(name: string, source: string, version: readonly string[]): Program {
  return {
    source,
    judge: (args: readonly ShellWord[]) => {
      const only = args.length === 1 ? staticText(args[0]) : undefined
      if (only !== undefined && version.includes(only)) return { facts: [readOnly] }
      return { facts: [{ class: 'runs-code', reason: `${name} runs code` }] }
    },
  }
}

const containerQueries = new Set([
  'ps',
  'images',
  'inspect',
  'version',
  'info',
  'container ls',
  'image ls',
  'volume ls',
  'network ls',
])
const containerWords = /^(?:-[aqnls]+|--all|--quiet|--no-trunc|--digests|--size|--latest|\w[\w./:@-]*)$/

function isContainerQuery(words: readonly string[]): boolean {
  const length = containerQueries.has(words[0] ?? '') ? 1 : 2
  return (
    containerQueries.has(words.slice(0, length).join(' ')) &&
    words.slice(length).every((word) => containerWords.test(word))
  )
}

const variables: Alarm = {
  kind: 'unsandboxed',
  reason: 'it shows the variables of a container, which may hold secrets',
}

/** Options with which a container gets the rights of the machine's owner: all rights, the machine's whole file tree, its namespaces or its devices. */
const ownsHost =
  /^--(?:privileged|cap-add|device)(?:=|$)|^--(?:pid|userns|ipc|uts|cgroupns)=host$|^(?:-v|--volume=|--mount=.*(?:source|src)=)?\/(?::|,|$)|docker\.sock/

/** Creates the row of docker or podman. Only queries, such as for the version or the list of containers, are harmless. Everything else runs code. */
function containers(name: string): Program {
  return {
    source: `${name}(1): only queries, without --format, --filter and options for another host`,
    judge: (args) => {
      const texts = args.map((arg) => staticText(arg))
      const isQuery = isContainerQuery(texts.map(String)) || /^(?:--version|-v)$/.test(texts.join(' '))
      if (texts.includes(undefined) || !isQuery) {
        const alarms = args.some(({ text }) => ownsHost.test(text)) ? [privilege] : []
        return { facts: [{ class: 'runs-code', reason: `${name} runs code` }], alarms }
      }
      return { facts: [readOnly], alarms: texts[0] === 'inspect' ? [variables] : [] }
    },
  }
}

/** Creates the row of a program that needs a person at the terminal, and that can start a shell. */
function interactive(source: string): Program {
  return {
    source,
    judge: () => ({ facts: [unknown('it waits for someone at a terminal and can start other programs')] }),
  }
}

/** Programs that run code, and programs that need a person at the terminal. */
export const codeRunners: ProgramTable = {
  docker: containers('docker'),
  podman: containers('podman'),
  ...Object.fromEntries(
    Object.entries(runners).map(([name, { source, version }]) => [name, runner(name, source, version ?? [])]),
  ),
  ...Object.fromEntries(
    [
      'less',
      'more',
      'most',
      'vi',
      'vim',
      'nvim',
      'view',
      'nano',
      'emacs',
      'ed',
      'ex',
      'man',
      'info',
      'top',
      'htop',
      'tmux',
      'screen',
      'gdb',
      'lldb',
      'mc',
      'ranger',
      'fzf',
    ].map((name) => [name, interactive(`${name}(1)`)]),
  ),
}
