import process from 'node:process'
import * as z from 'zod'
import type { Action } from '../../policies/index.ts'
import { renderDenial } from '../../sandbox/index.ts'
import { remedyAsConfig } from '../core/remedies.ts'
import type { Evaluation } from './repl/open-repl.ts'
import { defineTool } from './define-tool.ts'
import type { Tool } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

type ExecAction = Extract<Action, { type: 'exec' }>

const defaultTimeoutMs = 30_000

/** The tool that evaluates JavaScript in the sandbox, in a session that keeps its state. */
export const jsRepl: Tool = defineTool({
  name: 'js_repl',
  description:
    'Evaluates JavaScript in a Node session inside the sandbox, in the workspace. Variables, functions and imports are kept for later ' +
    'calls; await, import and require work at the top level. Returns the printed output and the last value.',
  searchHint: 'node javascript evaluate calculate script session console',
  input: z.object({
    code: z.string().default('').describe('JavaScript, not TypeScript. Optional with reset.'),
    reset: z.boolean().optional().describe('Start a new session before the code runs. All variables are dropped.'),
    timeout_ms: z
      .int()
      .min(1)
      .max(600_000)
      .optional()
      .describe(
        `Milliseconds after which the session is killed and its variables are lost. Default ${defaultTimeoutMs}; give more for slow work.`,
      ),
  }),
  validate: ({ code, reset }) => (code.trim() === '' && reset !== true ? 'Give the code to evaluate.' : undefined),
  action: ({ code }, { sandbox, workspace }): ExecAction => ({
    type: 'exec',
    argv: [process.execPath, '-e', code],
    cwd: workspace,
    sandbox: sandbox.policy.mode,
  }),
  async run(
    { reset = false, timeout_ms: timeout = defaultTimeoutMs },
    { approved, state: { repl, changes }, sandbox, workspace, signal },
  ) {
    const code = approved.argv.at(-1) ?? ''
    if (reset) repl.close()
    if (code.trim() === '') return { ok: true, output: 'The session is new: it has no variables.' }
    if (approved.sandbox !== 'read-only') await changes?.begin({ sandbox, workspace })
    return answer(await repl.evaluate(code, timeout, signal))
  },
})

function answer(evaluation: Evaluation): ToolResult {
  const lines: string[] = []
  if (evaluation.lost !== undefined)
    lines.push(`[this is a new session; the previous one and its variables are gone: ${evaluation.lost}]`)
  const printed = evaluation.output.replace(/\n$/, '')
  if (printed !== '') lines.push(printed)
  if (evaluation.status === 'ended') {
    lines.push(`The session has ended: ${evaluation.reason}. Its variables are gone; the next call starts a new one.`)
  } else if (evaluation.threw) lines.push(`Uncaught ${evaluation.text ?? 'undefined'}`)
  else if (evaluation.text !== undefined) lines.push(`=> ${evaluation.text}`)
  else if (printed === '') lines.push('=> undefined')
  for (const denial of evaluation.denials) lines.push(`[sandbox] ${renderDenial(denial, remedyAsConfig)}`)
  return { ok: evaluation.status === 'evaluated' && !evaluation.threw, output: lines.join('\n') }
}
