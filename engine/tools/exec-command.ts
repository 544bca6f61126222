import { resolve } from 'node:path'
import * as z from 'zod'
import { defineTool } from './define-tool.ts'
import { outputTokens } from './output-tokens.ts'
import { patchInCommand, type PatchInCommand } from './patch-in-command.ts'
import { applyPatchText } from './apply-patch-tool.ts'
import { isReadOnly, type CommandRequest } from './command-action.ts'
import { runCommand } from './run-shell-call.ts'
import type { Tool, ToolContext, ToolPlace } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

/** The fields that the inputs of the shell tools have besides the command itself. */
export const commandLimits = {
  timeout_ms: z
    .int()
    .min(1)
    .max(3_600_000)
    .optional()
    .describe('Milliseconds after which the command and everything it started are killed. Default 120000.'),
  yield_time_ms: z
    .int()
    .min(1)
    .max(300_000)
    .optional()
    .describe(
      'Milliseconds after which the call returns even if the command is still running; continue with write_stdin then. Default: wait ' +
        'until it ends.',
    ),
  tty: z.boolean().optional().describe('Give the command a terminal to type into with write_stdin. Default false.'),
  max_output_tokens: outputTokens.describe(
    'The maximum length of the output to return, in tokens of about 4 bytes. The middle of a longer output is cut out. Default 10000.',
  ),
  workdir: z.string().optional().describe('Directory to run in, relative to the workspace. Default: the workspace.'),
  sandbox_permissions: z
    .enum(['use_default', 'require_escalated'])
    .optional()
    .describe('"require_escalated" asks for more than the sandbox allows, which needs approval.'),
  justification: z.string().optional().describe('With "require_escalated": why the command needs it, in one sentence.'),
  additional_permissions: z
    .strictObject({
      read: z.array(z.string().min(1)).optional(),
      write: z.array(z.string().min(1)).optional(),
      network: z.array(z.string().min(1)).optional(),
    })
    .optional()
    .describe(
      'With "require_escalated": exactly what it needs, as paths to read or write and hosts (HOST or HOST:PORT) to connect to. Nothing ' +
        'else is granted.',
    ),
  prefix_rule: z
    .array(z.string())
    .optional()
    .describe(
      'With "require_escalated": the first words of the command, as a suggestion for a rule that allows such commands from now on, e.g. ' +
        '["npm", "test"].',
    ),
}

/** The shell tool, with the name and fields that models trained on Codex expect. */
export const execCommand: Tool = defineTool({
  name: 'exec_command',
  claudeNames: ['Bash'],
  guarded: true,
  ownItems: true,
  description:
    'Runs a shell command in the workspace, inside a sandbox. Returns its output and exit code when it has ended, or, with ' +
    'yield_time_ms, a session ID if it is still running. Standard input is empty. To change files, use apply_patch.',
  // The schema is loose, because models also send fields that other programs accept. The result names the fields that were ignored.
  input: z.looseObject({
    cmd: z.string().min(1).describe('The command line for the shell.'),
    ...commandLimits,
    login: z
      .boolean()
      .optional()
      .describe("Run as a login shell, which reads the user's start-up files. Default false."),
  }),
  validate: ({ cmd, workdir }) => faultOf([cmd, workdir ?? '']),
  readOnly: (input, place) => isReadOnly(shellRequest(input, place), place),
  concurrencySafe: (input, place) => isReadOnly(shellRequest(input, place), place),
  async run(input, context) {
    const { cmd, login: _, ...rest } = input
    const patch = patchInCommand(cmd)
    if (patch !== undefined) return applyTyped(patch, input.workdir, context)
    return runCommand(shellRequest(input, context), ignored(rest, commandLimits), context)
  },
})

/** The older form of the shell tool, which takes an argument vector. It works if a model calls it, but it is not offered to models. */
export const shell: Tool = defineTool({
  name: 'shell',
  claudeNames: ['Bash'],
  guarded: true,
  ownItems: true,
  description: 'Runs an argument vector in the workspace, inside a sandbox.',
  declared: false,
  input: z.looseObject({ command: z.array(z.string()).min(1), ...commandLimits }),
  validate: ({ command, workdir }) => faultOf([...command, workdir ?? '']),
  readOnly: (input, place) => isReadOnly(vectorRequest(input), place),
  concurrencySafe: (input, place) => isReadOnly(vectorRequest(input), place),
  async run(input, context) {
    const { command, ...rest } = input
    const [program = '', ...words] = command
    const script = /(?:^|\/)(?:ba|z|da)?sh$/.test(program) && words.length === 2 && /^-l?c$/.test(words[0] ?? '')
    const patch = patchInCommand(script ? (words[1] ?? '') : command)
    if (patch !== undefined) return applyTyped(patch, input.workdir, context)
    return runCommand(vectorRequest(input), ignored(rest, commandLimits), context)
  },
})

function faultOf(words: readonly string[]): string | undefined {
  return words.some((word) => word.includes('\0'))
    ? 'A command and its directory must not contain a NUL character.'
    : undefined
}

/** Converts a script to the command that runs it in the shell. */
function shellRequest(
  { cmd, login = false, ...rest }: Omit<CommandRequest, 'argv'> & ShellInput,
  { sandbox }: ToolPlace,
): CommandRequest {
  return { ...rest, argv: [sandbox.shell, login ? '-lc' : '-c', cmd] }
}

type ShellInput = { readonly cmd: string; readonly login?: boolean | undefined }

function vectorRequest({
  command,
  ...rest
}: Omit<CommandRequest, 'argv'> & { readonly command: readonly string[] }): CommandRequest {
  const [program, ...words] = command
  if (program === undefined) throw new TypeError('the schema must reject an empty command')
  return { ...rest, argv: [program, ...words] }
}

/** Applies a patch that the model typed into the shell, in the directory in which the command would have run. */
function applyTyped(patch: PatchInCommand, workdir: string | undefined, context: ToolContext): Promise<ToolResult> {
  return applyPatchText(patch.text, resolve(context.workspace, workdir ?? '.', patch.directory ?? '.'), context)
}

function ignored(given: object, known: object): readonly string[] {
  return Object.keys(given).filter((key) => !Object.hasOwn(known, key))
}
