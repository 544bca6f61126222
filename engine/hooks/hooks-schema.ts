import * as z from 'zod'
import { hookEvents, otherEvents, type HookEvent } from './hook-event.ts'

/** The fields of every handler. */
const common = {
  /** Seconds; beyond them the handler has failed. */
  timeout: z.number().positive().optional(),
  /** One permission rule, e.g. `Bash(git push:*)`: the handler runs for calls that it covers. */
  if: z.string().min(1).optional(),
  /** Runs in the background; its answer decides nothing. */
  async: z.boolean().optional(),
  /** The same, but its denial (exit code 2) is told to the model when it comes; a finished run waits for it. */
  asyncRewake: z.boolean().optional(),
  /** Runs at most once in a run. */
  once: z.boolean().optional(),
  statusMessage: z.string().optional(),
  /** The effect of a failure where a call waits for the answer: the call is denied (default), or continues. Ours. */
  onError: z.enum(['block', 'continue']).optional(),
}

const command = z.strictObject({
  type: z.literal('command'),
  /** Read by `/bin/sh`, or with `args` a program that gets them as they are. */
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  shell: z.enum(['bash', 'sh']).optional(),
  /** False runs it outside the sandbox; counts in files of the user and the machine's owner only. Default: true. Ours. */
  sandbox: z.boolean().optional(),
  ...common,
})

const http = z.strictObject({
  type: z.literal('http'),
  url: z.url({ protocol: /^https?$/ }),
  /** `$NAME` and `${NAME}` stand for environment variables that `allowedEnvVars` names; others are empty. */
  headers: z.record(z.string().min(1), z.string()).optional(),
  allowedEnvVars: z.array(z.string().min(1)).optional(),
  ...common,
})

const prompt = z.strictObject({
  type: z.literal('prompt'),
  /** The question for the model; `$ARGUMENTS` stands for the input as JSON, which otherwise follows. */
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
  /** Arguments; `${path.to.field}` in a string stands for a field of the hook's input. */
  input: z.record(z.string(), z.unknown()).optional(),
  ...common,
})

const handler = z.discriminatedUnion('type', [command, http, prompt, agent, mcpTool])

const group = z.strictObject({
  /** Empty, `*` or absent: everything. Names joined by `|` or `,`; anything else is a regular expression. */
  matcher: z.string().refine(isMatcher, 'must be names joined by "|", or a regular expression').optional(),
  hooks: z.array(handler),
})

const groups = z.array(group)

/** The `hooks` table of a settings file: for each event, groups of handlers. Events that never happen here are checked too. */
export const HooksTable = z.strictObject({
  ...(Object.fromEntries(Object.keys(hookEvents).map((name) => [name, groups.optional()])) as Record<
    HookEvent,
    z.ZodOptional<typeof groups>
  >),
  ...Object.fromEntries(otherEvents.map((name) => [name, groups.optional()])),
})

/** One thing to do at an event. */
export type Handler = z.infer<typeof handler>

function isMatcher(text: string): boolean {
  try {
    return new RegExp(text === '*' ? '' : text) instanceof RegExp
  } catch {
    return false
  }
}
