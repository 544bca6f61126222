import type * as z from 'zod'
import type { Action, Approved, Guardian } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { Escalation } from '../escalation/escalation.ts'
import type { Item, ItemDraft } from '../core/events.ts'
import type { ToolDeclaration } from '../core/model.ts'
import type { Review } from './review-call.ts'
import type { ToolResult } from './tool-result.ts'
import type { WorkingState } from './working-state.ts'

/** Where a call would run, for decisions that are made before it runs. */
export type ToolPlace = {
  /** The real path of the directory that the run works in. */
  readonly workspace: string
  readonly sandbox: Sandbox
}

/** What a call may use, and how it reports progress. Calls of a run share it, except for what belongs to one call, such as its id and signal. */
export type ToolContext = ToolPlace & {
  readonly callId: string
  /** The parts of the Guardian that assess actions without asking anybody. */
  readonly guardian: Pick<Guardian, 'assess' | 'mode' | 'canAsk'>
  /** Asks the Guardian to review what the call is about to do. */
  readonly review: Review
  /** Opens sandboxes that have the granted permissions. Absent: no permissions beyond the run's sandbox can be granted. */
  readonly escalation?: Escalation
  /** Aborted when the run or the model's response is cancelled, or when a parallel call can't be carried out. */
  readonly signal: AbortSignal
  /** Opens an item in the event stream and returns the functions that update and complete it. */
  startItem(item: ItemDraft): ItemHandle
  /** Environment variables for commands, in addition to those that the sandbox passes on. Absent: none. */
  readonly variables?: Readonly<Record<string, string>>
  /** The state that all calls of the run share. */
  readonly state: WorkingState
}

/** The context of a tool with an `action`, including the approved action. The tool must act on `approved`, not on the input. */
export type ApprovedContext<A extends Action> = ToolContext & { readonly approved: Approved<A> }

/** An item that has been opened. It must always be completed. */
export type ItemHandle = {
  /** Reports progress while the item is open. */
  update(changes: Partial<Item>): void
  /**
   * Registers a function from which live displays get the end of the output so far. The text that the function returns must be sanitized and contain
   * no secrets.
   */
  tail(read: () => string): void
  /** Records that what the item is about has begun to take effect. Only for commands. */
  began(): void
  complete(changes: Partial<Item>): void
}

/** The properties of a tool besides its action. A property that is absent has a safe default. */
type ToolTraits<Value> = {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the tool's parameters, as the model gets it. Default: a schema generated from `input`. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** Whether requests contain the tool. If false, the tool can still be called. Default: true. */
  readonly declared?: boolean
  /** Whether the tool is available in the run at all. Default: true. */
  readonly enabled?: boolean
  /**
   * Whether the tool also works in a run in which no person is available to answer questions. If false, its calls are refused in such a run. Default:
   * true.
   */
  readonly headless?: boolean
  /** If true, the tool may be deferred: requests contain only its name, and the model gets the schema by searching for the tool. Default: false. */
  readonly deferred?: boolean
  /** If true, the tool is in every request, even if other tools from the same source are deferred. Default: false. */
  readonly alwaysLoad?: boolean
  /** Whether the tool, if deferred, may be suggested to the model between turns. Default: true. */
  readonly suggested?: boolean
  /** Whether calls to the tool may run in parallel once the response is complete, even though they may change something. Default: false. */
  readonly sideBySide?: boolean
  /** Other names that models use for fields of the input, each mapped to the field. Default: none. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Search terms in addition to the name and description. */
  readonly searchHint?: string
  /**
   * The names of Claude Code's equivalents of this tool. Hooks, `allowed-tools` and permissions written for those tools also apply to this one. Hooks see its
   * calls under each of these names, with Claude Code's absolute `file_path` instead of `path`. Default: none; only the tool's own name applies.
   */
  readonly claudeNames?: readonly string[]
  /** Whether the tool opens its own items for its calls. Default: false; each call is a `tool_call` item. */
  readonly ownItems?: boolean
  /**
   * Whether the tool changes things only through actions that the Guardian reviews. If so, a call may begin in plan mode. A tool that is read-only or
   * has an `action` may be called in plan mode anyway. Default: false.
   */
  readonly guarded?: boolean
  /** Whether a call with this input changes nothing. Default: false. */
  readOnly?(input: Value, place: ToolPlace): boolean
  /** Whether a call with this input may run in parallel, and before the model has finished its response. Default: false. */
  concurrencySafe?(input: Value, place: ToolPlace): boolean
  /** Returns the input to show to hooks, if the effect of a call depends on more than its input. Default: the input itself. */
  seenAs?(input: Value, context: ToolContext): Readonly<Record<string, unknown>>
  /** Describes for the model what is wrong with an input that matches the schema; undefined if nothing is. */
  validate?(input: Value, context: ToolContext): string | undefined | Promise<string | undefined>
}

type TakesInput<Input extends z.ZodType> = {
  /** The schema for the input of a call. The model sees it as a JSON Schema. */
  readonly input: Input
  /**
   * Lets the model write the input as plain text that follows a grammar, instead of JSON, if the provider supports that. `fromText` converts the text
   * to the input.
   */
  readonly freeform?: {
    readonly description: string
    readonly grammar: string
    readonly fromText: (text: string) => z.input<Input>
  }
}

/** The definition of a tool, as its author writes it. */
export type ToolDefinition<Input extends z.ZodType> = ToolTraits<z.output<Input>> &
  TakesInput<Input> & {
    readonly action?: never
    readonly refusal?: never
    run(input: z.output<Input>, context: ToolContext): Promise<ToolResult>
  }

/** The definition of a tool whose calls the Guardian reviews before they run. */
export type GuardedToolDefinition<Input extends z.ZodType, A extends Action> = ToolTraits<z.output<Input>> &
  TakesInput<Input> & {
    /** Returns the action that a call with this input would carry out. */
    action(input: z.output<Input>, place: ToolPlace): A
    /**
     * Explains to the model why the call is impossible here even with approval, so that nobody is asked to approve it. Returns undefined (the
     * default) if the call is possible.
     */
    refusal?(input: z.output<Input>, place: ToolPlace): string | undefined
    run(input: z.output<Input>, context: ApprovedContext<A>): Promise<ToolResult>
  }

/** A tool that a run can use. Its type doesn't depend on the type of its input, so that tools with different inputs fit in one list. */
export type Tool = {
  readonly name: string
  readonly description: string
  readonly headless: boolean
  readonly enabled: boolean
  readonly deferred: boolean
  readonly alwaysLoad: boolean
  readonly searchHint: string
  readonly claudeNames: readonly string[]
  readonly suggested: boolean
  readonly sideBySide: boolean
  readonly ownItems: boolean
  readonly guarded: boolean
  /** The tool as it is declared to the model. Undefined for a tool that can be called but is not offered. */
  readonly declaration: ToolDeclaration | undefined
  /** Parses the text of a call. Returns the arguments under the input's field names, or what is wrong with the text. */
  parse(kind: 'function' | 'freeform', text: string): { readonly json: unknown } | { readonly error: string }
  /** Checks arguments against the input's schema. Returns the call to run, or why it can't run. */
  check(json: unknown): CheckedCall
}

/** The result of checking arguments. */
export type CheckedCall = ValidCall | { readonly valid: false; readonly error: string }

/** A call whose arguments match the schema. */
export type ValidCall = {
  readonly valid: true
  readOnly(place: ToolPlace): boolean
  concurrencySafe(place: ToolPlace): boolean
  /** Returns the input to show to hooks; undefined if they are to be shown the call's own arguments. */
  seenAs(context: ToolContext): Readonly<Record<string, unknown>> | undefined
  validate(context: ToolContext): Promise<string | undefined>
  /** Returns the action that the Guardian reviews before the call runs; undefined for a tool that asks the Guardian itself, or needs no approval. */
  action(place: ToolPlace): Action | undefined
  /** Returns why the action must be refused without asking anybody; undefined if there is no such reason. */
  refusal(place: ToolPlace): string | undefined
  /**
   * Runs the call.
   *
   * @param approved the action that the Guardian approved; undefined if `action` returned none
   */
  run(context: ToolContext, approved: Approved | undefined): Promise<ToolResult>
}
