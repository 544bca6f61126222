import * as z from 'zod'
import type { EndReason } from './exit-codes.ts'
import type { Circumstances } from './run/circumstances.ts'
import type { Budget } from './run/limits.ts'

/**
 * The event stream of a run: what `agent exec --json` prints, one object a line. Types and fields are those of
 * `codex exec --json`, so that its clients read ours; everything we add is an extra field or an extra item type.
 */

/** Counts up when a field changes its meaning or goes away; new fields do not count. */
export const schemaVersion = 1

const usage = z.object({
  input_tokens: z.int(),
  cached_input_tokens: z.int(),
  cache_write_input_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_output_tokens: z.int(),
})

/** Ours: what the Guardian said to the call behind an item. */
const verdict = z.object({
  decision: z.enum(['allow', 'deny', 'abort']),
  decided_by: z.string(),
  reason: z.string(),
  rule: z.string().optional(),
})

/** Ours: something the sandbox refused while a command ran, and how to allow it. */
const denial = z.object({
  kind: z.enum(['path', 'host', 'syscall', 'limit', 'quarantine']),
  subject: z.string(),
  rule: z.string(),
  certainty: z.enum(['proven', 'suspected']),
  how_to_allow: z.string(),
})

/** What all items have. */
const common = {
  id: z.string(),
  /** Ours: where the whole item lies, when it was too long for one line. */
  whole_file: z.string().optional(),
  /** Ours: who did it, where it was an agent that the run handed work to. */
  agent_id: z.string().optional(),
}

const agentMessage = z.object({ ...common, type: z.literal('agent_message'), text: z.string() })

const reasoning = z.object({ ...common, type: z.literal('reasoning'), text: z.string() })

const commandExecution = z.object({
  ...common,
  type: z.literal('command_execution'),
  /** The argument vector, quoted for a shell. */
  command: z.string(),
  /** stdout and stderr as they came, cut in the middle when long. */
  aggregated_output: z.string(),
  /** Null while it runs, and for a command that was declined or killed. */
  exit_code: z.int().nullable(),
  status: z.enum(['in_progress', 'completed', 'failed', 'declined']),
  call_id: z.string(),
  cwd: z.string(),
  sandbox: z.string().optional(),
  duration_ms: z.number().optional(),
  /** How a command ended that has no exit code. */
  ended_by: z.enum(['signal', 'timeout', 'cancelled']).optional(),
  /** Where the whole output lies when `aggregated_output` was cut. */
  output_file: z.string().optional(),
  verdict: verdict.optional(),
  /** What it was granted beyond the run's sandbox, in words. Absent: nothing. */
  granted: z.array(z.string()).optional(),
  denials: z.array(denial).optional(),
})

const fileChange = z.object({
  ...common,
  type: z.literal('file_change'),
  changes: z.array(z.object({ path: z.string(), kind: z.enum(['add', 'delete', 'update']) })),
  status: z.enum(['in_progress', 'completed', 'failed']),
  call_id: z.string(),
  duration_ms: z.number().optional(),
  /** Unified diff of the change, cut in the middle when long. */
  diff: z.string().optional(),
  error: z.string().optional(),
  verdict: verdict.optional(),
})

/** Ours: a call that is neither a command nor a change; also one that became nothing, since no tool has its name or its input is wrong. */
const toolCall = z.object({
  ...common,
  type: z.literal('tool_call'),
  tool: z.string(),
  /** The call's text as the model wrote it, its end cut off when long. */
  input: z.string(),
  /** `declined`: refused by the Guardian or a hook. */
  status: z.enum(['in_progress', 'completed', 'failed', 'declined']),
  call_id: z.string(),
  duration_ms: z.number().optional(),
  /** The result, its end cut off when long. */
  output: z.string().optional(),
  /** Why there is no result. */
  error: z.string().optional(),
  verdict: verdict.optional(),
})

/** Ours: what a reviewer was asked about one action, and what it said. Only `allow` lets the action happen. */
const guardianAssessment = z.object({
  ...common,
  type: z.literal('guardian_assessment'),
  reviewer: z.string(),
  status: z.enum(['in_progress', 'completed', 'failed']),
  /** The action in one line. */
  action: z.string(),
  /** Why the reviewer was asked. */
  asked_because: z.string(),
  /** The ways of giving no answer are kept apart from a `deny`. */
  outcome: z.enum(['allow', 'deny', 'abort', 'timed-out', 'unavailable', 'malformed']).optional(),
  rationale: z.string().optional(),
  /** A reviewing model's own words for it. */
  risk: z.enum(['low', 'medium', 'high', 'critical']).optional(),
  authorization: z.enum(['unknown', 'low', 'medium', 'high']).optional(),
  duration_ms: z.number().optional(),
  /** Part of the run's usage already. */
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }).optional(),
  /** The call whose action it is. */
  call_id: z.string().optional(),
})

/** Ours: the conversation was too long for the model, and its beginning was summed up. */
const compaction = z.object({
  ...common,
  type: z.literal('context_compaction'),
  /** `limit`: the configured share of the window is reached. `overflow`: the provider refused what it was sent. */
  trigger: z.enum(['limit', 'overflow']),
  status: z.enum(['in_progress', 'completed', 'failed']),
  /** Of a request, about. */
  tokens_before: z.number(),
  tokens_after: z.number().optional(),
  /** What the model goes on from, cut in the middle when long. */
  summary: z.string().optional(),
  duration_ms: z.number().optional(),
})

const mcpToolCall = z.object({
  ...common,
  type: z.literal('mcp_tool_call'),
  server: z.string(),
  tool: z.string(),
  /** As the model wrote them; their JSON text, cut in the middle, where they are long. */
  arguments: z.unknown(),
  result: z.object({ content: z.array(z.unknown()), structured_content: z.unknown() }).optional(),
  error: z.object({ message: z.string() }).optional(),
  status: z.enum(['in_progress', 'completed', 'failed']),
  call_id: z.string(),
  duration_ms: z.number().optional(),
  /** Ours: how far the server says that it has come, by its own count. */
  progress: z.object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() }).optional(),
  verdict: verdict.optional(),
})

/** Ours: a hook that has run. */
const hookRun = z.object({
  ...common,
  type: z.literal('hook'),
  event: z.string(),
  /** Its command, URL or tool, and where it is configured. */
  handler: z.string(),
  status: z.enum(['completed', 'blocked', 'failed']),
  duration_ms: z.number(),
  /** Why, where it blocked or failed; else what of its wishes was not fulfilled. */
  message: z.string().optional(),
})

/** The model's plan as it is now: a later one stands in its place. */
const todoList = z.object({
  ...common,
  type: z.literal('todo_list'),
  items: z.array(
    z.object({
      text: z.string(),
      completed: z.boolean(),
      /** Ours. */
      status: z.enum(['pending', 'in_progress', 'completed']).optional(),
      /** Ours: what the model knows it by, where it has a name. */
      id: z.string().optional(),
    }),
  ),
})

/** Ours: plan mode, in which a run changes nothing, began or ended, or a plan was shown to whoever approves it. */
const planMode = z.object({
  ...common,
  type: z.literal('plan_mode'),
  /** `kept`: the plan was not approved. `delivered`: nobody was there to approve it, so it is the result of the run. */
  state: z.enum(['entered', 'proposed', 'left', 'kept', 'delivered']),
  /** Whose wish it was to plan first. */
  wished_by: z.enum(['user', 'model']),
  plan: z.string().optional(),
  call_id: z.string().optional(),
  verdict: verdict.optional(),
})

/** What a provider did when it searched the web for its model. */
export const webSearchAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('search'), query: z.string().optional(), queries: z.array(z.string()).optional() }),
  z.object({ type: z.literal('open_page'), url: z.string().optional() }),
  z.object({ type: z.literal('find_in_page'), url: z.string().optional(), pattern: z.string().optional() }),
  z.object({ type: z.literal('other') }),
])

/** A search by the model's provider: it was made when this is told, and no sandbox confined it. */
const webSearch = z.object({
  ...common,
  type: z.literal('web_search'),
  /** What was looked for; an address for a page that was opened. */
  query: z.string(),
  action: webSearchAction,
})

/** Ours: the run works in a git worktree of its own from here on, or where it began again. */
const worktree = z.object({
  ...common,
  type: z.literal('worktree'),
  /** `left`: its files and its branch are still there. */
  state: z.enum(['entered', 'left', 'removed']),
  path: z.string(),
  branch: z.string().optional(),
  call_id: z.string().optional(),
})

const errorItem = z.object({ ...common, type: z.literal('error'), message: z.string() })

const item = z.discriminatedUnion('type', [
  agentMessage,
  reasoning,
  commandExecution,
  fileChange,
  mcpToolCall,
  toolCall,
  guardianAssessment,
  compaction,
  hookRun,
  todoList,
  planMode,
  webSearch,
  worktree,
  errorItem,
])

/** A thing of a run that has a beginning and an end: a message, a command, a change of files. */
export type Item = z.infer<typeof item>
export type CommandItem = z.infer<typeof commandExecution>
export type ToolCallItem = z.infer<typeof toolCall>
export type AssessmentItem = z.infer<typeof guardianAssessment>
export type EventVerdict = z.infer<typeof verdict>

/** Ours, in every event: what `Circumstances` says. */
const circumstances = {
  sandbox: z.literal('external').optional(),
  dangers: z.array(z.literal('docker-socket')).optional(),
}

/** Ours: how many variables of the environment commands did not get, and how many of these are taken for secrets. */
const withheld = z.object({ variables: z.int(), secrets: z.int() })

/** What both terminal events say. */
const terminal = {
  /** Of this run, and all runs of the session together. */
  usage,
  total_usage: usage,
  /** US dollars; absent where a model's price is not known. */
  cost_usd: z.number().optional(),
  total_cost_usd: z.number().optional(),
  duration_ms: z.number(),
  denied: z.int(),
  /** How far the audit log has come, `RECORDS:HASH`, for `agent audit verify --head`. */
  audit_head: z.string().optional(),
  /** Default limits that the sandbox could not enforce here, as sentences; absent where there were none. */
  sandbox_unenforced: z.array(z.string()).optional(),
  environment_withheld: withheld.optional(),
}

/** An item without the id that the run gives it. */
export type ItemDraft = WithoutId<Item>

type WithoutId<T extends Item> = T extends Item ? Omit<T, 'id'> : never

/**
 * Every event a run can emit, as a zod schema. The first is `thread.started`, the last one of the two terminal `turn.` ones. A start
 * that fails, and so becomes no run, is `error` and `turn.failed` alone.
 */
export const RunEvent = z.discriminatedUnion('type', [
  z.object({
    ...circumstances,
    type: z.literal('thread.started'),
    thread_id: z.string(),
    schema_version: z.literal(schemaVersion),
    config: z.object({
      model: z.string(),
      cwd: z.string(),
      sandbox_mode: z.string(),
      sandbox_backend: z.string(),
      approval_policy: z.string(),
      session_dir: z.string(),
      /** What commands reach: `off`, `allowlist` or `full`. */
      network: z.string().optional(),
      environment_withheld: withheld.optional(),
      reasoning_effort: z.string().optional(),
      /** Whose wish it is that the run plans, and changes nothing. Absent: it may act. */
      plan_mode: z.enum(['user', 'model']).optional(),
      /** The limits that were given. */
      budget: z
        .object({
          max_turns: z.int().optional(),
          max_tokens: z.int().optional(),
          max_cost_usd: z.number().optional(),
          timeout_ms: z.number().optional(),
        })
        .optional(),
      /** Configuration that was found and does not count: the file, its keys (none: all of it), and why. Absent: none. */
      ignored_config: z
        .array(z.object({ source: z.string(), keys: z.array(z.string()), reason: z.string() }))
        .optional(),
    }),
  }),
  z.object({ ...circumstances, type: z.literal('turn.started') }),
  z.object({ ...circumstances, type: z.literal('item.started'), item }),
  z.object({ ...circumstances, type: z.literal('item.updated'), item }),
  z.object({ ...circumstances, type: z.literal('item.completed'), item }),
  z.object({ ...circumstances, type: z.literal('turn.completed'), ...terminal }),
  z.object({
    ...circumstances,
    type: z.literal('turn.failed'),
    error: z.object({ message: z.string() }),
    reason: z.string(),
    exit_code: z.int(),
    ...terminal,
  }),
  z.object({ ...circumstances, type: z.literal('error'), message: z.string() }),
])

export type RunEvent = z.infer<typeof RunEvent>

/** Something that listens to a run. Sinks never act: what they do can't change what the run does. */
export type Sink = {
  event(event: RunEvent): void
  /** A piece of a message while the model still writes it. For display; the whole message follows as an item. */
  delta?(text: string): void
  /** What the run has used so far; told after each response of the model. For display. */
  spent?(spent: Spent): void
  /** Called once, after the last event, with how the run ended. */
  end?(summary: RunSummary): void
}

/** What a run has used so far, and of how much. */
export type Spent = {
  /** Responses of the model. */
  readonly turns: number
  /** In and out. */
  readonly tokens: number
  /** In US dollars; undefined where a model's price is not known. */
  readonly costUsd: number | undefined
  readonly of: Pick<Budget, 'maxTurns' | 'maxTokens' | 'maxCost'>
}

/** What a run did, for the closing lines on stderr and for the program's exit code. */
export type RunSummary = {
  readonly exitCode: number
  readonly reason: EndReason
  /** Why the run failed; undefined when it came to its own end. */
  readonly error: string | undefined
  readonly finalMessage: string
  readonly filesChanged: readonly { readonly path: string; readonly kind: string }[]
  readonly commands: { readonly run: number; readonly failed: number }
  readonly denied: readonly { readonly what: string; readonly reason: string }[]
  readonly usage: z.infer<typeof usage>
  /** In US dollars; undefined where a model's price is not known. */
  readonly costUsd: number | undefined
  readonly durationMs: number
  /** How far the audit log has come, `RECORDS:HASH`; undefined where none was kept. */
  readonly auditHead?: string | undefined
  /** Default limits that the sandbox could not enforce here, as sentences. */
  readonly unenforced?: readonly string[] | undefined
  /** How many variables of the environment commands did not get. */
  readonly withheld?: z.infer<typeof withheld> | undefined
  /** What was given to commands that is a way out of any sandbox. */
  readonly dangers?: Circumstances['dangers']
}
