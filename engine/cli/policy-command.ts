import { readFileSync } from 'node:fs'
import process from 'node:process'
import {
  checkCommand,
  explainCheck,
  explainCommand,
  findIdleRules,
  readCommandTable,
  RuleError,
  testCommandTable,
  type CheckOptions,
  type TableRow,
} from '../../policies/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { findHome, findAppPaths } from '../core/app-paths.ts'
import { describeIdleRule, describeRuleError, readPolicies } from '../config/read-policies.ts'
import { UserError } from '../core/user-error.ts'
import type { PolicyOptions } from './policy-options.ts'
import { approvalModeOf, sandboxModeOf } from '../app/modes.ts'
import { loadRunConfig } from './run-config.ts'
import { findRepository, findWorkspace } from '../app/workspace.ts'

/** `agent policy check`: prints the decision about each command, explained in a few lines of text, or as a JSON object. */
export function policyCheck(command: readonly string[], options: PolicyOptions): number {
  if ((command.length === 0) === (options.from === undefined)) {
    throw new UserError('usage', 'agent policy check: give either a command, after --, or --from FILE')
  }
  const judged = checkOptions(options)
  const commands =
    options.from === undefined ? [wordsOrLine(command)] : readTable(options.from).map((row) => row.command)
  for (const one of commands) {
    const checked = checkCommand(one, judged)
    const line = options.json === true ? JSON.stringify(checked) : explainCheck(checked, judged).trimEnd()
    process.stdout.write(`${line}\n`)
  }
  return exitCodes.done
}

/** `agent policy explain`: explains in words how one command is judged. */
export function policyExplain(command: readonly string[], options: PolicyOptions): number {
  const judged = checkOptions(options)
  process.stdout.write(explainCommand(wordsOrLine(command), judged))
  return exitCodes.done
}

/** `agent policy test`: judges the commands in a table, and compares the decisions with the expected ones. */
export function policyTest(file: string, options: PolicyOptions): number {
  const rows = readTable(file)
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
    process.stdout.write(
      `${file}:${row.line}: ${checked.command}\n  ${checked.decision}, expected ${expected}: ${checked.reason}\n`,
    )
  }
  const rest = unjudged === 0 ? '' : `, ${unjudged} without an expectation`
  process.stdout.write(`${passed} as expected, ${failed.length} not${rest}\n`)
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
  const { rules, permissions } = readPolicies({ places, home, project, config, ruleFiles: options.rules })
  for (const idle of findIdleRules(rules, permissions)) process.stderr.write(`warning: ${describeIdleRule(idle)}\n`)
  return {
    approvalMode: options.askForApproval ?? approvalModeOf(settings),
    sandbox: options.sandbox ?? sandboxModeOf(settings),
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

function readTable(file: string): readonly TableRow[] {
  try {
    return readCommandTable(file, readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    if (error instanceof RuleError) throw new UserError('usage', describeRuleError(error), { cause: error })
    throw new UserError('usage', `${file}: can't be read: ${(error as Error).message}`, { cause: error })
  }
}
