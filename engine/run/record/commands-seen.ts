import { analyseScript, type AnalysedCommand } from '../../../policies/index.ts'
import type { CommandItem, Item, RunRecord, VerificationItem } from '../../core/events.ts'
import { scriptOf } from '../../core/text/one-line.ts'
import { truncateMiddle } from '../../core/text/truncate.ts'
import { CredentialsSeen } from './credentials-seen.ts'
import { ServicesSeen } from './services-seen.ts'
import { checkers, installing, packages, readers, runners, runsTests, scripted, syntaxChecks } from './test-programs.ts'
import { failingTests, failuresIn, isEmptyRun, isTestSummary, skippedIn } from './test-output.ts'

/** A command that the model or `--verify` requested. */
type Ran = Pick<CommandItem | VerificationItem, 'command' | 'aggregated_output' | 'exit_code' | 'status'> &
  Partial<Pick<CommandItem, 'cwd'>>

/** The maximum number of commands to keep: the last ones, because what happened last is what holds. */
const mostKept = 300
const mostTold = 50
const shownOutput = 16 * 1024
const longestCommand = 1024

/**
 * Collects those of a run's commands that tested or published something, and counts its connections to services and its uses of credentials. The commands are analysed at the end of
 * the run.
 */
export class CommandsSeen {
  #commands: Ran[] = []
  #byTools: RunRecord['pushed'] = []
  #namesGit = false
  readonly #outcomes = new Map<string, 'passed' | 'failed' | 'refused'>()

  readonly services = new ServicesSeen()
  readonly credentials = new CredentialsSeen()

  /** Receives a completed item. */
  see(item: Item): void {
    if (item.type === 'service_connection') this.services.see(item)
    if (item.type === 'credential_use') this.credentials.see(item)
    if (item.type === 'command_execution' || item.type === 'verification') {
      const { command, aggregated_output: output, status } = item
      this.#note(shown(command), status)
      if (status !== 'declined' && /\bgit\b/.test(command)) this.#namesGit = true
      if (!relevant.test(command) && !isTestSummary(output)) return
      this.#commands.push({ ...item, aggregated_output: output.slice(-shownOutput) })
      if (this.#commands.length > mostKept) this.#commands.shift()
    }
    if (item.type === 'mcp_tool_call' && /push|publish|merge|pull_request/.test(item.tool)) {
      const outcome = item.status === 'completed' ? 'done' : 'failed'
      this.#byTools.push({ command: `${item.server}: ${item.tool}`, outcome })
      if (this.#byTools.length > mostTold) this.#byTools.shift()
    }
  }

  /** Whether a command names git, so that the run may have made commits even if the checked-out commit is as before. */
  get namesGit(): boolean {
    return this.#namesGit
  }

  /** The last outcome of a command by its exit code; undefined if it isn't among the last commands. */
  outcomeOf(command: string): 'passed' | 'failed' | 'refused' | undefined {
    return this.#outcomes.get(command.trim())
  }

  #note(command: string, status: Ran['status']): void {
    this.#outcomes.delete(command)
    this.#outcomes.set(command, status === 'completed' ? 'passed' : status === 'declined' ? 'refused' : 'failed')
    const [oldest] = this.#outcomes.keys()
    if (this.#outcomes.size > mostKept && oldest !== undefined) this.#outcomes.delete(oldest)
  }

  /**
   * What the record says about tests, services, credentials, and what was pushed.
   *
   * @param workspace the directory in which the run began
   */
  told(workspace: string | undefined): Pick<RunRecord, 'tests' | 'pushed' | 'services' | 'credentials'> {
    const judged = this.#commands.map((item) => ({ item, commands: commandsOf(item.command) }))
    const runs = Map.groupBy(
      judged.flatMap(({ item, commands }) => testIn(item, commands, workspace) ?? []),
      ({ command, cwd = '' }) => `${cwd}\0${command}`,
    )
    const last = [...runs.values()].flatMap((each) => {
      const at = each.at(-1)
      return at === undefined ? [] : [{ ...at, runs: each.length }]
    })
    const pushes = judged.flatMap(({ item, commands }) => pushIn(item, commands) ?? [])
    const pushed = [...pushes, ...this.#byTools].slice(-mostTold)
    return { tests: last.slice(-mostTold), pushed, ...this.services.told(), ...this.credentials.told() }
  }
}

const relevant =
  /test|spec|unit\b|check|verify|push|publish|upload|release|deploy|lint|build|make|tox|nox|jest|mocha|ava|karma|cypress|playwright|bats|busted|behave|e2e|cucumber|dbt|ginkgo|prove|trial|just|rake|mvn|gradle|tsc|pr create|mr create|[pm]r merge/i

type Commands = readonly (readonly string[])[]
type Test = Omit<RunRecord['tests'][number], 'runs'>

function testIn(item: Ran, commands: Commands, workspace: string | undefined): Test | undefined {
  const { aggregated_output: output, exit_code: code, cwd } = item
  const named = commands.findLastIndex(isTest)
  const at = named < 0 && isTestSummary(output) ? commands.findLastIndex(mayTest) : named
  if (at < 0) return undefined
  const failed = failuresIn(output)
  const skipped = skippedIn(output)
  return {
    command: shown(item.command),
    ...(cwd === undefined || workspace === undefined || cwd === workspace ? {} : { cwd }),
    outcome: testOutcome(item, at === commands.length - 1),
    exit_code: code,
    ...(failed === undefined ? {} : { failed }),
    ...(skipped === undefined ? {} : { skipped }),
  }
}

function testOutcome(
  { status, exit_code: code, aggregated_output: output, command }: Ran,
  isLast: boolean,
): Test['outcome'] {
  if (status === 'declined') return 'refused'
  const saysFailed = failingTests.test(output)
  if (code !== 0) return isLast || saysFailed ? 'failed' : 'unknown'
  const isDecided = decidesExit(command, isLast)
  if (!isDecided && saysFailed) return 'failed'
  if (isEmptyRun(output)) return 'no-tests'
  return isDecided || isTestSummary(output) ? 'passed' : 'unknown'
}

function pushIn(item: Ran, commands: Commands): RunRecord['pushed'][number] | undefined {
  const done = commands.findLastIndex(isPush)
  const at = done < 0 ? commands.findLastIndex(isDryPush) : done
  if (at < 0) return undefined
  const outcome = pushOutcome(item, at === commands.length - 1)
  return { command: shown(item.command), outcome: outcome === 'done' && done < 0 ? 'dry-run' : outcome }
}

function pushOutcome(
  { status, exit_code: code, aggregated_output: output, command }: Ran,
  isLast: boolean,
): RunRecord['pushed'][number]['outcome'] {
  if (status === 'declined') return 'refused'
  const saysFailed = failingPush.test(output)
  if (code !== 0) return isLast || saysFailed ? 'failed' : 'unknown'
  if (/everything up-to-date/i.test(output)) return 'unknown'
  if (decidesExit(command, isLast)) return 'done'
  if (saysFailed) return 'failed'
  return / -> /.test(output) ? 'done' : 'unknown'
}

/**
 * Whether exit code 0 of a line means that one of its commands succeeded. It does for the last command, unless that may not have run, was only started, or
 * ran in a loop; and for any command in a line that is joined by `&&` alone.
 */
function decidesExit(command: string, isLast: boolean): boolean {
  const script = scriptOf(command).replaceAll(/\d?[<>]&\d?|&>>?|&&/g, ' ')
  return isLast ? !/\|\||&|!|\b(?:done|fi|esac)\b/.test(script) : !/[|;&!\n]/.test(script.trim())
}

function shown(command: string): string {
  return truncateMiddle(scriptOf(command), longestCommand).text
}

/** The words of each command in a line, as far as the analysis understands them. */
function commandsOf(line: string): Commands {
  return analyseScript(line)
    .commands.map(({ words }: AnalysedCommand) =>
      words.flatMap((word) => (word.kind === 'static' || word.kind === 'glob' ? [word.text] : [])),
    )
    .filter(([program = '', ...words]) => program !== '' && !isInline(program, words))
}

const shells: ReadonlySet<string> = new Set(['bash', 'sh', 'zsh', 'dash'])
/** Whether a command is `sh -c` or similar. The commands in its script are listed separately. */
const isInline = (program: string, words: readonly string[]): boolean =>
  shells.has(nameOf(program)) && words.some((word) => /^-[a-z]*c$/.test(word))
const nameOf = (program: string): string => program.slice(program.lastIndexOf('/') + 1)

/**
 * Options with which no test runs and nothing is pushed: the program only lists or builds tests, says what it would do, or shows its help or version.
 */
const tryingOut =
  /^(?:--dry-run|--collect-only|--co|--list|--list-?tests|--no-run|--help|--version|-DskipTests|-Dmaven\.test\.skip(?:=true)?|--passWithNoTests=list)$/i

const testWord = /test|rspec|unit$|^(?:jest|mocha|ava|karma|tox|nox|cypress|playwright|bats|e2e|ci)$/i
const specs = /(?:^|[/_.:-])specs?(?:$|[/_:-]|\.[a-z]+$)/i

/** Whether a word names tests or a program that runs tests. */
function namesTests(word: string): boolean {
  return testWord.test(word.replaceAll(/latest|testdata|testing|tested/gi, '')) || specs.test(word)
}

/** Programs that run tests for a word such as `check`. */
const checking = /^(?:make|gmake|ninja|meson|just|task|rake|gradlew?|mvnw?|sbt|mix|R|nix|npm|pnpm|yarn|bun|cargo-make)$/

function isTest([program = '', ...words]: readonly string[]): boolean {
  const name = nameOf(program)
  if (words.some((word) => tryingOut.test(word)) || words.includes('lint')) return false
  if (readers.has(name) || isChecker(name)) return false
  if (syntaxChecks[name]?.test(words.join(' ')) === true) return false
  const plain = words.filter((word) => !/^[+-]/.test(word) || word === '--test')
  const [first = '', second = ''] = plain
  if (packages.has(name) && installing.has(first)) return false
  if (isChecker(nameOf(first)) || isChecker(nameOf(second))) return false
  // Elsewhere, words such as `test` are the names of packages, images and targets.
  const only = runsTests[name]
  if (only !== undefined) return only.test(plain.join(' ').replaceAll('latest', ''))
  const script = plain[plain.indexOf('run') + 1]
  if (scripted.has(name) && plain.includes('run') && script !== undefined)
    return namesTests(script) || script === 'check'
  if (packages.has(name) && (first === 't' || first === 'tst')) return true
  if (runners[name]?.test(plain.join(' ')) === true) return true
  if (name === 'bundle' && first === 'exec' && runners[second]?.test(plain.slice(2).join(' ')) === true) return true
  if (checking.test(name) && plain.some((word) => /^:?(?:[\w-]+:)*(?:check|verify)$/.test(word))) return true
  return [name, ...plain].some(namesTests)
}

function isChecker(name: string): boolean {
  return checkers.has(name) || name.endsWith('lint')
}

/** Whether a command may have printed the summary of a test run. */
function mayTest([program = '', ...words]: readonly string[]): boolean {
  const name = nameOf(program)
  return !readers.has(name) && !isChecker(name) && !(packages.has(name) && installing.has(words[0] ?? ''))
}

function isPush([program = '', ...words]: readonly string[]): boolean {
  const name = nameOf(program)
  if (words.some((word) => tryingOut.test(word)) || (name === 'git' && words.includes('-n'))) return false
  if (words.includes('lint')) return false
  if (name === 'git' || name === 'jj' || name === 'hg') return words.includes('push')
  if (name === 'git-push') return true
  if (name === 'gh' || name === 'glab') return ['create', 'merge', 'push'].some((word) => words.includes(word))
  const named = name === 'cargo' ? words.filter((word) => word !== '--release') : [name, ...words]
  if (readers.has(name) || isChecker(name) || (shells.has(name) && words.includes('-n'))) return false
  // The name of a file suggests that something is published only if it is the command or comes directly after it: `bash deploy.sh`, but not
  // `tar czf deploy.tgz`.
  return (
    named.some((word, at) => publishing.test(word) && (at < 2 || !/[./\s]/.test(word))) && !isTest([program, ...words])
  )
}

const publishing = /push|publish|release|deploy|upload/i

/** Whether a command is a push or publication with an option that only reports what it would do. */
function isDryPush(words: readonly string[]): boolean {
  if (shells.has(nameOf(words[0] ?? ''))) return false
  const without = words.filter((word) => word !== '--dry-run' && word !== '-n')
  return without.length < words.length && isPush(without)
}

const failingPush = /\[rejected\]|\[remote rejected\]|failed to push|fatal: |permission denied|could not read/i
