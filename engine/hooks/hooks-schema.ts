import * as z from 'zod'
import { hookEvents, otherEvents, type HookEvent } from './hook-event.ts'

/** The fields that every handler has. */
const common = {
  /** The time limit in seconds. A handler that exceeds it has failed. */
  timeout: z.number().positive().optional(),
  /** One permission rule, such as `Bash(git push:*)`. The handler runs only for calls that the rule covers. */
  if: z.string().min(1).optional(),
  /** Whether the handler runs in the background. The run doesn't wait for its answer then. Default: false. */
  async: z.boolean().optional(),
  /**
   * Like `async`, but a denial (exit code 2, or a model's `"ok": false`) is reported to the model with the result of the next tool call, or
   * at the end of the run, which waits for the handler.
   */
  asyncRewake: z.boolean().optional(),
  /** Whether the handler runs at most once in a run. Default: false. */
  once: z.boolean().optional(),
  statusMessage: z.string().optional(),
  /**
   * What happens if the handler fails while an action waits for it: the action is refused (`block`, the default) or continues (`continue`). Claude
   * Code doesn't have this field.
   */
  onError: z.enum(['block', 'continue']).optional(),
}

const command = z.strictObject({
  type: z.literal('command'),
  /** The shell command; or, if `args` is given, the program that is run with those arguments, without a shell. */
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  shell: z.enum(['bash', 'sh']).optional(),
  /**
   * Whether the command runs in the sandbox. Default: true. `false` has an effect only in a hook file of the user or of the machine's owner. Claude Code
   * doesn't have this field.
   */
  sandbox: z.boolean().optional(),
  ...common,
})

const http = z.strictObject({
  type: z.literal('http'),
  url: z.url({ protocol: /^https?$/ }),
  /**
   * The headers of the request. In a value, `$NAME` and `${NAME}` are replaced by the environment variable if `allowedEnvVars` names it, and
   * otherwise by an empty string.
   */
  headers: z.record(z.string().min(1), z.string()).optional(),
  allowedEnvVars: z.array(z.string().min(1)).optional(),
  ...common,
})

const prompt = z.strictObject({
  type: z.literal('prompt'),
  /**
   * The question for the model. `$ARGUMENTS` is replaced by the input as JSON; if the question doesn't contain `$ARGUMENTS`, the input is appended.
   */
  prompt: z.string().min(1),
  model: z.string().min(1).optional(),
  ...common,
})

const agent = z.strictObject({
  type: z.literal('agent'),
  prompt: z.string().min(1),
  model: z.string().min(1).optional(),
  ...common,
})

const mcpTool = z.strictObject({
  type: z.literal('mcp_tool'),
  server: z.string().min(1),
  tool: z.string().min(1),
  /** The arguments of the tool call. `${path.to.field}` in a string is replaced by the field of the hook's input at that path. */
  input: z.record(z.string(), z.unknown()).optional(),
  ...common,
})

const handler = z.discriminatedUnion('type', [command, http, prompt, agent, mcpTool])

const group = z.strictObject({
  /**
   * Selects what the group's hooks run for, e.g. certain tools: names joined by `|` or `,`, or a regular expression. Absent, empty or `*`: for
   * everything.
   */
  matcher: z.string().refine(isMatcher, 'must be names that are separated by "|", or a regular expression').optional(),
  hooks: z.array(handler),
})

const groups = z.array(group)

/** The `hooks` table of a settings file: groups of handlers for each event. Events that never happen here are validated too. */
export const HooksTable = z.strictObject({
  ...(Object.fromEntries(Object.keys(hookEvents).map((name) => [name, groups.optional()])) as Record<
    HookEvent,
    z.ZodOptional<typeof groups>
  >),
  ...Object.fromEntries(otherEvents.map((name) => [name, groups.optional()])),
})

/** A function of the program that drives the run. Only that program can add such a handler: no file can. */
export type CallbackHandler = {
  readonly type: 'callback'
  /** Tells this callback from the others. */
  readonly id: string
  /** Answers an event. The answer has the form of a hook's output. */
  readonly ask: (input: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<unknown>
} & z.infer<z.ZodObject<typeof common>>

/** A handler of an event. */
export type Handler = z.infer<typeof handler> | CallbackHandler

function isMatcher(text: string): boolean {
  try {
    return new RegExp(text === '*' ? '' : text) instanceof RegExp
  } catch {
    return false
  }
}
