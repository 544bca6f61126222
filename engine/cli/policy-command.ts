import process from 'node:process'
import {
  checkCommand,
  explainCheck,
  explainCommand,
  findIdleRules,
  readCommandTable,
  RuleError,
  testCommandTable,
  type CheckedCommand,
  type CheckOptions,
  type TableRow,
} from '../../policies/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { findHome, findAppPaths } from '../core/app-paths.ts'
import { describeIgnored } from '../config/ignored.ts'
import { describeIdleRule, describeRuleError, readPolicies } from '../config/read-policies.ts'
import { readUserText } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'
import type { PolicyOptions } from './policy-options.ts'
import { approvalModeOf, sandboxModeOf } from '../app/modes.ts'
import { viewOf } from '../app/run-transaction.ts'
import { loadRunConfig } from './run-config.ts'
import { findRepository, findWorkspace } from '../app/workspace.ts'
import { print, printText, printJson, tell } from './print.ts'

/** The exit codes of `agent policy check`. */
const codes: Readonly<Record<CheckedCommand['decision'], number>> = { allow: 0, ask: 1, deny: 3 }

/**
 * `agent policy check`: prints the decision about each command, explained in a few lines of text, or as a JSON object. The exit code says what the
 * strictest decision is.
 */
export async function policyCheck(command: readonly string[], options: PolicyOptions): Promise<number> {
  if ((command.length === 0) === (options.from === undefined)) {
    throw new UserError('usage', 'agent policy check: give either a command, after --, or --from FILE')
  }
  const judged = checkOptions(options)
  const commands =
    options.from === undefined ? [wordsOrLine(command)] : (await readTable(options.from)).map((row) => row.command)
  const found: number[] = []
  for (const one of commands) {
    const checked = checkCommand(one, judged)
    found.push(codes[checked.decision])
    if (options.json === true) printJson(checked)
    else printText(explainCheck(checked, judged).trimEnd())
  }
  return options.exitZero === true ? exitCodes.done : Math.max(exitCodes.done, ...found)
}

/** `agent policy explain`: explains in words how one command is judged. */
export function policyExplain(command: readonly string[], options: PolicyOptions): number {
  const judged = checkOptions(options)
  printText(explainCommand(wordsOrLine(command), judged))
  return exitCodes.done
}

/** `agent policy test`: judges the commands in a table, and compares the decisions with the expected ones. */
export async function policyTest(file: string, options: PolicyOptions): Promise<number> {
  const rows = await readTable(file)
  if (rows.every(({ expected }) => expected === undefined)) {
    const found = rows.length === 0 ? 'contains no commands' : 'has no expected decision for any command'
    throw new UserError(
      'usage',
      `${file} ${found}, so nothing was tested; expected lines such as {"command": "git push", "expect": "ask"}`,
    )
  }
  const { passed, failed, unjudged } = testCommandTable(rows, checkOptions(options))
  for (const { row, checked } of failed) {
    const expected = row.expected?.join(' or ') ?? ''
    print(`${file}:${row.line}: ${checked.command}`, `  ${checked.decision}, expected ${expected}: ${checked.reason}`)
  }
  const rest = unjudged === 0 ? '' : `, ${unjudged} without an expectation`
  print(`${passed} as expected, ${failed.length} not${rest}`)
  return failed.length === 0 ? exitCodes.done : exitCodes.failed
}

function checkOptions(options: PolicyOptions): CheckOptions {
  const places = findAppPaths(process.env)
  const cwd = findWorkspace(process.cwd())
  const { trust, isolated } = options
  const asked = { config: [], ...(trust === true ? { trust } : {}), ...(isolated === true ? { isolated } : {}) }
  const config = loadRunConfig(asked, cwd, places)
  const { settings } = config
  const project = { root: findRepository(cwd) ?? cwd, workspace: cwd }
  const home = findHome(process.env)
  const { rules, permissions, ignored } = readPolicies({ places, home, project, config, ruleFiles: options.rules })
  for (const notice of ignored) tell(`warning: ${describeIgnored(notice)}`)
  for (const idle of findIdleRules(rules, permissions)) tell(`warning: ${describeIdleRule(idle)}`)
  const sandbox = options.sandbox ?? sandboxModeOf(settings)
  return {
    approvalMode: options.askForApproval ?? approvalModeOf(settings),
    sandbox,
    onView: viewOf({ task: { type: 'prompt' } }, { ...settings, sandbox_mode: sandbox }) !== undefined,
    rules,
    permissions,
    cwd,
  }
}

/**
 * Returns the arguments of a command or, if there is only one, this argument as a shell command line, because people often quote a whole command.
 */
function wordsOrLine(command: readonly string[]): string | readonly string[] {
  const [only, ...others] = command
  return only !== undefined && others.length === 0 ? only : command
}

const largestTable = 16 * 1024 * 1024

async function readTable(file: string): Promise<readonly TableRow[]> {
  const text = file === '-' ? await standardInput() : readUserText(file, largestTable)
  try {
    return readCommandTable(file, text)
  } catch (error) {
    if (error instanceof RuleError) throw new UserError('usage', describeRuleError(error), { cause: error })
    throw error
  }
}

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > largestTable) throw new UserError('usage', `Standard input has more than ${largestTable} bytes.`)
  }
  return Buffer.concat(chunks).toString()
}
