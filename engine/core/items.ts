import * as z from 'zod'
import { commandExecution, common, verdict, verification } from './command-items.ts'
import { namedService } from './named-services.ts'
import { findingFields } from './review-report-schema.ts'

const agentMessage = z.object({ ...common, type: z.literal('agent_message'), text: z.string() })

const reasoning = z.object({ ...common, type: z.literal('reasoning'), text: z.string() })

const fileChange = z.object({
  ...common,
  type: z.literal('file_change'),
  changes: z.array(z.object({ path: z.string(), kind: z.enum(['add', 'delete', 'update']) })),
  status: z.enum(['in_progress', 'completed', 'failed']),
  call_id: z.string(),
  duration_ms: z.number().optional(),
  /** A unified diff of the change, with the middle cut out if it is long. */
  diff: z.string().optional(),
  /** Not in Codex: what was repaired in the patch, and what deserves attention in how it was applied; at most 20 notes. Absent: none. */
  notes: z.array(z.string()).optional(),
  error: z.string().optional(),
  verdict: verdict.optional(),
})

/**
 * Not in Codex: a tool call that isn't reported as an item of another type, such as a command or a file change; or a call that failed because its
 * tool is unknown or its input is invalid.
 */
const toolCall = z.object({
  ...common,
  type: z.literal('tool_call'),
  tool: z.string(),
  /** The call's input as the model wrote it, truncated if it is long. */
  input: z.string(),
  /** `declined`: refused by the Guardian or a hook. */
  status: z.enum(['in_progress', 'completed', 'failed', 'declined']),
  call_id: z.string(),
  duration_ms: z.number().optional(),
  /** The result, truncated if it is long. */
  output: z.string().optional(),
  /** Why the call has no result. */
  error: z.string().optional(),
  verdict: verdict.optional(),
})

/** Not in Codex: what a reviewer was asked about one action, and the answer. Only `allow` lets the action happen. */
const guardianAssessment = z.object({
  ...common,
  type: z.literal('guardian_assessment'),
  reviewer: z.string(),
  status: z.enum(['in_progress', 'completed', 'failed']),
  /** The action in one line. */
  action: z.string(),
  /** Why the reviewer was asked. */
  asked_because: z.string(),
  /** The reviewer's decision, `allow` or `deny`. Any other value says why the reviewer made no such decision. */
  outcome: z.enum(['allow', 'deny', 'abort', 'timed-out', 'unavailable', 'malformed']).optional(),
  rationale: z.string().optional(),
  /** The risk as the reviewing model rates it. */
  risk: z.enum(['low', 'medium', 'high', 'critical']).optional(),
  authorization: z.enum(['unknown', 'low', 'medium', 'high']).optional(),
  duration_ms: z.number().optional(),
  /** What the answer cost in tokens. The run's usage already includes it. */
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }).optional(),
  /** The id of the call that the action belongs to. */
  call_id: z.string().optional(),
})

/** Not in Codex: the conversation was too long for the model, and its beginning was summarized. */
const compaction = z.object({
  ...common,
  type: z.literal('context_compaction'),
  /** `limit`: the configured share of the context window was reached. `overflow`: the provider refused the request as too long. */
  trigger: z.enum(['limit', 'overflow']),
  status: z.enum(['in_progress', 'completed', 'failed']),
  /** The approximate number of tokens in a request before the conversation was summarized. */
  tokens_before: z.number(),
  tokens_after: z.number().optional(),
  /** The summary that the model continues from, with the middle cut out if it is long. */
  summary: z.string().optional(),
  duration_ms: z.number().optional(),
})

const mcpToolCall = z.object({
  ...common,
  type: z.literal('mcp_tool_call'),
  server: z.string(),
  tool: z.string(),
  /** The arguments as the model wrote them. If they are long, their JSON text with the middle cut out. */
  arguments: z.unknown(),
  result: z.object({ content: z.array(z.unknown()), structured_content: z.unknown() }).optional(),
  error: z.object({ message: z.string() }).optional(),
  status: z.enum(['in_progress', 'completed', 'failed']),
  call_id: z.string(),
  duration_ms: z.number().optional(),
  /** Not in Codex: the server's progress, in its own units. */
  progress: z.object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() }).optional(),
  verdict: verdict.optional(),
})

/** Not in Codex: a hook that has run. */
const hookRun = z.object({
  ...common,
  type: z.literal('hook'),
  event: z.string(),
  /** The hook's command, URL or tool, and where it is configured. */
  handler: z.string(),
  status: z.enum(['completed', 'blocked', 'failed']),
  duration_ms: z.number(),
  /** Why the hook blocked something or failed; if it did neither, which of the hook's requests were ignored. */
  message: z.string().optional(),
})

/** The model's current plan. A later plan replaces it. */
const todoList = z.object({
  ...common,
  type: z.literal('todo_list'),
  items: z.array(
    z.object({
      text: z.string(),
      completed: z.boolean(),
      /** Not in Codex: the progress of this step. */
      status: z.enum(['pending', 'in_progress', 'completed']).optional(),
      /** Not in Codex: the model's name for this step, if it gave one. */
      id: z.string().optional(),
    }),
  ),
})

/** Not in Codex: plan mode (in which a run changes nothing) began or ended, or a plan was shown to its reviewer. */
const planMode = z.object({
  ...common,
  type: z.literal('plan_mode'),
  /**
   * `kept`: plan mode continues because the plan was not approved. `delivered`: nobody could be asked to approve the plan, so the plan is the result of the
   * run.
   */
  state: z.enum(['entered', 'proposed', 'left', 'kept', 'delivered']),
  /** Who requested the plan. */
  requested_by: z.enum(['user', 'model']),
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

/** A web search by the model's provider. It is reported after it has happened, and no sandbox confines it. */
const webSearch = z.object({
  ...common,
  type: z.literal('web_search'),
  /** The query, or the address of a page that was opened. */
  query: z.string(),
  action: webSearchAction,
})

/**
 * Not in Codex: a connection of a command, hook or MCP server to a service has ended, or is still open and the run ends. Of a run's connections, the first
 * 1000 are reported; its record counts all.
 */
const serviceConnection = z.object({
  ...common,
  type: z.literal('service_connection'),
  ...namedService.shape,
  /** How many bytes the command sent, and how many it received. */
  bytes_sent: z.int(),
  bytes_received: z.int(),
  duration_ms: z.number(),
  /** Why there was no connection. Absent: there was one. */
  error: z.string().optional(),
  /** True if it is open when the run ends, as those of an MCP server may be; otherwise absent. */
  still_open: z.literal(true).optional(),
})

/**
 * Not in Codex: a request of a command, hook or MCP server was sent with a credential, and has been answered or has failed. Of a run's uses, the first 1000
 * are reported; its record counts all.
 */
const credentialUse = z.object({
  ...common,
  type: z.literal('credential_use'),
  /** The name of the credential. */
  credential: z.string(),
  host: z.string(),
  /** What the request did, as a row of `allow` says it. */
  operation: z.string(),
  /** The HTTP status of the answer. Absent: there was none. */
  status: z.int().optional(),
  /** The bytes of the bodies. */
  bytes_sent: z.int(),
  bytes_received: z.int(),
  duration_ms: z.number(),
})

const reviewFinding = z.object({ ...common, type: z.literal('review_finding'), ...findingFields })

const errorItem = z.object({ ...common, type: z.literal('error'), message: z.string() })

/** The schema of an item. */
export const item = z.discriminatedUnion('type', [
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
  verification,
  serviceConnection,
  credentialUse,
  reviewFinding,
  errorItem,
])

/** A part of a run that has a beginning and an end, such as a message, a command or a file change. */
export type Item = z.infer<typeof item>
export type CommandItem = z.infer<typeof commandExecution>
export type VerificationItem = z.infer<typeof verification>
export type ToolCallItem = z.infer<typeof toolCall>
export type AssessmentItem = z.infer<typeof guardianAssessment>
export type EventVerdict = z.infer<typeof verdict>

/** An item without its id, which the run assigns later. */
export type ItemDraft = WithoutId<Item>

type WithoutId<T extends Item> = T extends Item ? Omit<T, 'id'> : never
