import * as z from 'zod'
import type { Action } from '../../policies/index.ts'
import { sanitizeOutput } from '../core/text/sanitize-output.ts'
import { answerCommand, answerRunning } from './command-result.ts'
import type { LiveCommand } from './command-sessions.ts'
import { defineTool } from './define-tool.ts'
import { denied } from './denied-result.ts'
import { outputTokens } from './output-tokens.ts'
import type { Tool, ToolContext } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

const defaultYieldMs = 1000
const defaultPollMs = 10_000

const session = z.int().min(1).describe('The session ID that exec_command returned.')

/** The tool that types into a running command or waits for its output. */
export const writeStdin: Tool = defineTool({
  name: 'write_stdin',
  claudeNames: ['Bash'],
  guarded: true,
  description:
    'Types into a running command (started with tty), or, without chars, waits for it. Shows what the command has printed since the last ' +
    'call. "\\n" is Enter, "\\u0003" is control-C.',
  input: z.object({
    session_id: session,
    chars: z.string().optional().describe('What to type. Default: nothing; only wait.'),
    yield_time_ms: z
      .int()
      .min(1)
      .max(300_000)
      .optional()
      .describe('How long to wait for the command to end, in milliseconds. Default 1000; 10000 without chars.'),
    max_output_tokens: outputTokens.describe('The maximum length of the output to return, in tokens. Default 10000.'),
  }),
  seenAs: (input, { state }) => ({ ...input, pending: state.sessions.get(input.session_id)?.typed ?? '' }),
  async run({ session_id: id, chars = '', yield_time_ms: ms, max_output_tokens: maxTokens }, context) {
    const command = context.state.sessions.get(id)
    if (command === undefined) return unknownSession(id, context)
    if (chars !== '') {
      if (!command.hasTerminal) {
        return { ok: false, output: `Session ${id} has no terminal to type into: start the command with "tty": true.` }
      }
      const refused = await refuseTyping(command, chars, context)
      if (refused !== undefined) return refused
      command.type(chars)
    }
    const started = performance.now()
    const result = await command.endWithin(ms ?? (chars === '' ? defaultPollMs : defaultYieldMs), context.signal)
    return look(id, command, result, { started, maxTokens }, context)
  },
})

/** The tool that ends a running command. */
export const killSession: Tool = defineTool({
  name: 'kill_session',
  claudeNames: ['KillShell'],
  guarded: true,
  description: 'Ends a running command and everything it started, and shows its last output.',
  input: z.object({ session_id: session }),
  async run({ session_id: id }, context) {
    const command = context.state.sessions.get(id)
    if (command === undefined) return unknownSession(id, context)
    const started = performance.now()
    command.kill()
    const result = await command.result
    return { ...(await look(id, command, result, { started, maxTokens: undefined }, context)), ok: true }
  },
})

function unknownSession(id: number, { state }: ToolContext): ToolResult {
  const { ids } = state.sessions
  const known = ids.length === 0 ? 'No command is running' : `Running: ${ids.join(', ')}`
  return {
    ok: false,
    output: `There is no session ${id}. It may have ended; if so, that was reported to you. ${known}.`,
  }
}

/** The maximum length of typed input that is not yet a complete command, in characters. Nobody types more than this. */
const longestPending = 64 * 1024

/**
 * Reviews input before it is typed, because a shell may execute it as a command that would not have been approved. Input that a shell combines into one command
 * is reviewed as a whole, from the end of the last complete command: across line breaks after a backslash, within open quotes, or after an operator. Input with
 * erasing keys is also reviewed as the line that results from them, and input with keys that insert text, such as the tab key and the up arrow, as a
 * command that isn't known. Control-C alone needs no approval.
 */
async function refuseTyping(
  command: LiveCommand,
  chars: string,
  context: ToolContext,
): Promise<ToolResult | undefined> {
  const whole = `${command.typed}${chars}`.replace(/\r\n?/g, '\n')
  const readings = readingsOf(whole)
  const { folders } = command
  const refused = await refuseReadings(readings, folders, command, context)
  // What was typed before is still in the shell, which combines it with whatever is typed next.
  if (refused !== undefined) return refused
  // Control-C discards an incomplete command, so only the text after it is still pending. Control-D doesn't: the shell keeps the beginning of the line.
  const begun = whole.slice(whole.lastIndexOf('\u0003') + 1)
  const pending = isWhole(begun) ? '' : begun
  if (pending.length > longestPending) {
    return {
      ok: false,
      output: 'Not typed: the earlier input is still not a complete command. Send control-C ("\\u0003") first.',
    }
  }
  command.typed = pending
  if (pending === '') command.enters(readings.flatMap((text) => foldersAfter(text, folders, command, context)))
  return undefined
}

/** A typed line as an action, in the folder in which the shell may run it. */
function actionIn(
  folder: string | undefined,
  text: string,
  command: LiveCommand,
  context: ToolContext,
): Extract<Action, { type: 'exec' }> {
  // The first command leads to a folder that isn't known.
  const line = folder === undefined ? `cd "$folder_of_this_shell" || exit\n${text}` : text
  const { workspace, sandbox } = context
  return { type: 'exec', argv: [sandbox.shell, '-c', line], cwd: folder ?? workspace, workspace, sandbox: command.mode }
}

/** The folders in which a shell may work after it has run a line. Undefined stands for a folder that can't be known. */
function foldersAfter(
  text: string,
  folders: readonly (string | undefined)[],
  command: LiveCommand,
  context: ToolContext,
): readonly (string | undefined)[] {
  return folders.flatMap((folder) => {
    const { analysis } = context.guardian.assess(actionIn(folder, `${text}\n:`, command, context))
    const isClear = analysis?.problems.length === 0
    return isClear ? (analysis.commands.at(-1)?.folders ?? [undefined]) : [folder, undefined]
  })
}

async function refuseReadings(
  readings: readonly string[],
  folders: readonly (string | undefined)[],
  command: LiveCommand,
  context: ToolContext,
): Promise<ToolResult | undefined> {
  for (const text of readings) {
    for (const folder of folders) {
      const { verdict } = await context.review(actionIn(folder, text, command, context))
      if (verdict.decision !== 'allow') return denied(verdict)
    }
  }
  return undefined
}

/** The ways in which a shell's line editor may read the input: with the editing keys removed, with the erasing keys applied, or as a line that isn't known. */
function readingsOf(typed: string): readonly string[] {
  const ended = typed.replace(/\u0003/g, '\n')
  // Control-D ends an empty line, and with it the shell. In any other line it is ignored.
  const readings = [ended, ended.replace(/\u0004/g, '\n')].flatMap((text) => [withoutKeys(text), erased(text)])
  const known = [...new Set(readings.map((text) => text.trim()).filter((text) => text !== ''))]
  // Control-C discards the line, so what follows is another one.
  return typed.split('\u0003').some(mayBecomeAnything) ? [...known, '$unknown_line'] : known
}

/**
 * Whether a line editor may execute a line that differs from the text: the keys complete a word, recall an earlier line or move the cursor, or the text
 * has a `!` or `^` with which a shell recalls an earlier line. Keys that execute nothing by themselves count only once the line is ended.
 */
function mayBecomeAnything(typed: string): boolean {
  const isEnded = /[\n\u000f]/.test(typed)
  if (isEnded && (/![^\s=]|^\^/m.test(typed) || /\t|\u001b(?:\[|O)/.test(typed))) return true
  const others = typed.replace(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.)/g, '')
  return /[\u0001\u0002\u0005-\u0007\u000b\u000c\u000e-\u0014\u0016\u0018-\u001f]/.test(others)
}

function withoutKeys(typed: string): string {
  return typed.replace(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.|.)?|[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
}

/** Applies backspace, control-W and control-U. */
function erased(typed: string): string {
  let line = ''
  for (const key of typed) {
    if (key === '\u007f' || key === '\b') line = line.slice(0, -1)
    else if (key === '\u0015') line = line.slice(0, line.lastIndexOf('\n') + 1)
    else if (key === '\u0017') line = withoutLastWord(line)
    else if (key === '\n' || key === '\t' || key >= ' ') line += key
  }
  return line
}

/** Whether a shell would have executed all of a text. If so, what follows is a separate command. False in case of doubt. */
function isWhole(text: string): boolean {
  if (!text.endsWith('\n')) return text.trim() === '' && !text.includes('\\')
  const plain = text.replace(/\\[^]/g, (pair) => (pair === '\\\n' ? '\u0000' : ''))
  if (/\u0000\s*$/.test(plain) || /(?:&&|\|\|?|[({])\s*$/.test(plain) || plain.includes('<<')) return false
  const outside = plain.replace(/'[^']*'|"[^"]*"/g, '')
  if (/['"`]/.test(outside) || count(outside, /[({]/g) !== count(outside, /[)}]/g)) return false
  return !/(?:^|[\s;&|(])(?:if|for|while|until|case|select|function|do|then)(?=\s)/.test(outside)
}

function count(text: string, what: RegExp): number {
  return [...text.matchAll(what)].length
}

/** Returns the output of a command since the last call, and says whether the command is still running. */
async function look(
  id: number,
  command: LiveCommand,
  result: Awaited<LiveCommand['result']> | undefined,
  { started, maxTokens }: { readonly started: number; readonly maxTokens: number | undefined },
  context: ToolContext,
): Promise<ToolResult> {
  const bytes = command.takeUnread()
  const output = context.state.mask(sanitizeOutput(bytes))
  if (result === undefined) {
    const denials = await command.sandbox.inspect()
    return answerRunning({ id, output, denials, waitedMs: performance.now() - started, maxTokens }, context)
  }
  context.state.sessions.remove(id)
  return answerCommand({ result, mode: command.mode, output, file: undefined }, { maxTokens, ignored: [] }, context)
}

/** Erases the last word like control-W in a terminal: the white space at the end of the line and the word before it. */
function withoutLastWord(line: string): string {
  let end = line.length
  while (end > 0 && line[end - 1] !== '\n' && line[end - 1]?.trim() === '') end--
  let start = end
  while (start > 0 && line[start - 1]?.trim() !== '') start--
  return start === end ? line : line.slice(0, start)
}
