import { analyseScript, type AnalysedCommand } from '../../../policies/index.ts'
import type { CommandItem, Item, VerificationItem } from '../../core/events.ts'
import { checkers, installing, packages, readers, runners, syntaxChecks } from './programs.ts'
import { countedIn, failingTests, isEmptyRun, isTestSummary } from './test-output.ts'

/**
 * The result of a command. `unknown`: the record doesn't show whether the command failed, or a push found nothing to push; the command then
 * contradicts no claim. `empty`: the command found no tests, or its push was a dry run.
 */
type Outcome = 'ok' | 'failed' | 'refused' | 'unknown' | 'empty'

/** A command that a claim may be about. */
export type Deed = {
  readonly command: string
  readonly outcome: Outcome
  /** The numbers in the command's output, if the output counts tests. */
  readonly counts?: readonly number[]
  /** How many tests failed, according to the last such number in the command's output. */
  readonly failures?: number | undefined
  /** How many tests were skipped, according to the last such number in the command's output. */
  readonly skipped?: number | undefined
  /** Whether the output of a push reports a new tag. */
  readonly hasNewTag?: boolean
}

/** The evidence for or against claims that a run's final message may make. */
export type RunRecord = {
  /** The test runs, in order. */
  readonly tests: readonly Deed[]
  readonly pushes: readonly Deed[]
  /** Commands that succeeded, apart from test runs. Statements about their results count as true. */
  readonly succeeded: readonly string[]
  /** Refused commands that would probably have written or deleted files. */
  readonly refused: readonly string[]
}

/** What is known about a run's actions. */
export type KnownOfRun = RunRecord & {
  /** Absolute paths of the files that the run changed. */
  readonly changed: readonly string[]
  /** The folder to which the message's paths are relative. */
  readonly workspace: string
  /**
   * Returns whether a file was written since the run began, doesn't exist now (`absent`), or neither (`as-before`). The list of changes isn't enough,
   * because it leaves out files that git ignores.
   */
  readonly isTouched: (path: string) => 'written' | 'absent' | 'as-before'
  /** Whether the run continues a session. The message may then describe earlier runs, so only claims that this run contradicts are reported. */
  readonly goesOn: boolean
}

/** A command that the model or `--verify` requested. */
type Run = Pick<CommandItem | VerificationItem, 'command' | 'aggregated_output' | 'exit_code' | 'status'>

/**
 * The maximum number of commands to keep: the last ones, because a final message is usually about these. Of refused commands, the first ones are
 * kept.
 */
const mostKept = 300
const shownOutput = 16 * 1024
const longestCommand = 1024

/** Collects those of a run's commands that a claim may be about. They are analysed only in `record`, at the end of the run. */
export class Evidence {
  #commands: Run[] = []
  #succeeded: string[] = []
  #refused: string[] = []
  #pushedOtherwise: string | undefined

  /** Receives a completed item. */
  see(item: Item): void {
    const isCommand = item.type === 'command_execution' || item.type === 'verification'
    if (isCommand && item.exit_code === 0) {
      this.#succeeded.push(item.command.slice(0, longestCommand))
      if (this.#succeeded.length > mostKept) this.#succeeded.shift()
    }
    if (isCommand && item.status === 'declined' && writing.test(item.command) && this.#refused.length < mostKept)
      this.#refused.push(item.command.slice(0, longestCommand))
    if (isCommand && (relevant.test(item.command) || isTestSummary(item.aggregated_output))) {
      const output = item.aggregated_output
      const shown = output.length > shownOutput ? output.slice(-shownOutput) : output
      this.#commands.push({ ...item, aggregated_output: shown })
      if (this.#commands.length > mostKept) this.#commands.shift()
    }
    if (
      item.type === 'mcp_tool_call' &&
      item.status === 'completed' &&
      /push|commit|merge|pull_request/.test(item.tool)
    )
      this.#pushedOtherwise = `${item.server}: ${item.tool}`
  }

  /** The evidence so far. */
  record(): RunRecord {
    const judged = this.#commands.map((item) => ({ item, commands: commandsOf(item.command) }))
    const deeds = (is: (words: readonly string[]) => boolean, failing: RegExp): readonly Deed[] =>
      judged.flatMap(({ item, commands }) => {
        const isPushing = failing === failingPush
        const done = commands.findLastIndex(is)
        const named = done < 0 && isPushing ? commands.findLastIndex(isDryPush) : done
        const counts = named < 0 && failing === failingTests && isTestSummary(item.aggregated_output)
        const at = counts ? commands.findLastIndex(mayTest) : named
        if (at < 0) return []
        const judged = outcomeOf(item, at === commands.length - 1, failing)
        const outcome = isPushing && done < 0 && judged === 'ok' ? 'empty' : judged
        const output = item.aggregated_output
        return [
          {
            command: item.command,
            outcome,
            ...(isPushing ? { hasNewTag: output.includes('[new tag]') } : countedIn(output)),
          },
        ]
      })
    const other = this.#pushedOtherwise
    const tests = deeds(isTest, failingTests)
    return {
      tests,
      refused: this.#refused,
      succeeded: this.#succeeded.filter((command) => tests.every((each) => each.command !== command)),
      pushes: [
        ...deeds(isPush, failingPush),
        ...(other === undefined ? [] : [{ command: other, outcome: 'ok' as const }]),
      ],
    }
  }
}

const writing = /\b(?:rm|unlink|tee|touch|cp|mv|install|mkdir|ln|dd)\b|\bsed -i|>/
const relevant =
  /test|spec|unit\b|check|verify|push|publish|upload|release|deploy|lint|build|make|tox|nox|jest|mocha|ava|karma|cypress|playwright|bats|busted|behave|e2e|cucumber|dbt|ginkgo|prove|trial|just|rake|mvn|gradle|tsc|pr create|mr create|[pm]r merge/i

/** The words of each command in a line, as far as the analysis understands them. */
function commandsOf(line: string): readonly (readonly string[])[] {
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

function isTest([program = '', ...words]: readonly string[]): boolean {
  const name = nameOf(program)
  if (words.some((word) => tryingOut.test(word))) return false
  if (readers.has(name) || checkers.has(name)) return false
  if (syntaxChecks[name]?.test(words.join(' ')) === true) return false
  const [first = '', second = ''] = words.filter((word) => !word.startsWith('-'))
  if (packages.has(name) && installing.has(first)) return false
  if (checkers.has(nameOf(first)) || checkers.has(nameOf(second))) return false
  if ((name === 'cargo' || name === 'deno') && first === 'check') return false
  if (packages.has(name) && (first === 't' || first === 'tst')) return true
  if (runners[name]?.test(words.filter((word) => !word.startsWith('-')).join(' ')) === true) return true
  if (name === 'bundle' && first === 'exec' && runners[second]?.test(words.slice(2).join(' ')) === true) return true
  return [name, ...words].some((word) =>
    /test|spec|check|verify|unit$|^(?:jest|mocha|ava|karma|tox|nox|cypress|playwright|bats|e2e|ci)$/i.test(word),
  )
}

/** Whether a command may have printed the summary of a test run. */
function mayTest([program = '', ...words]: readonly string[]): boolean {
  const name = nameOf(program)
  return !readers.has(name) && !checkers.has(name) && !(packages.has(name) && installing.has(words[0] ?? ''))
}

/** Whether a text is a command that runs tests. */
export function isTestCommand(text: string): boolean {
  return commandsOf(text).some(isTest)
}

function isPush([program = '', ...words]: readonly string[]): boolean {
  const name = nameOf(program)
  if (words.some((word) => tryingOut.test(word)) || (name === 'git' && words.includes('-n'))) return false
  if (name === 'git' || name === 'jj' || name === 'hg') return words.includes('push')
  if (name === 'git-push') return true
  if (name === 'gh' || name === 'glab') return ['create', 'merge', 'push'].some((word) => words.includes(word))
  const named = name === 'cargo' ? words.filter((word) => word !== '--release') : [name, ...words]
  if (readers.has(name) || checkers.has(name) || (shells.has(name) && words.includes('-n'))) return false
  // The name of a file suggests that something is published only if it is the command or comes directly after it: `bash deploy.sh`, but not
  // `tar czf deploy.tgz`.
  return (
    named.some((word, at) => publishing.test(word) && (at < 2 || !/[./]/.test(word))) && !isTest([program, ...words])
  )
}

const publishing = /push|publish|release|deploy|upload/i

/** Whether a command is a push or publication with an option that only reports what it would do. */
function isDryPush(words: readonly string[]): boolean {
  const without = words.filter((word) => word !== '--dry-run' && word !== '-n')
  return without.length < words.length && isPush(without)
}

const failingPush = /\[rejected\]|\[remote rejected\]|failed to push|fatal: |permission denied|could not read/i

/**
 * Determines the outcome of one command in a line. The exit code is that of the line's last command. For any other command, such as one before a pipe,
 * the output decides. If the line contains `|` or `;`, output that reports a failure overrides an exit code of 0.
 *
 * @param isLast whether no command of the line comes after it
 */
function outcomeOf(item: Run, isLast: boolean, failing: RegExp): Outcome {
  if (item.status === 'declined') return 'refused'
  const saysFailed = failing.test(item.aggregated_output)
  if (item.exit_code === 0) {
    const { aggregated_output: output } = item
    if (failing === failingTests && isEmptyRun(output)) return 'empty'
    if (failing === failingPush && /everything up-to-date/i.test(output)) return 'unknown'
    const isMasked = !isLast || /\|\|?|;/.test(item.command)
    return isMasked && saysFailed ? 'failed' : 'ok'
  }
  return isLast || saysFailed ? 'failed' : 'unknown'
}
