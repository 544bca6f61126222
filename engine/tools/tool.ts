import type * as z from 'zod'
import type { Action, Approved, Guardian } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { Escalation } from '../escalation/escalation.ts'
import type { Item, ItemDraft } from '../core/events.ts'
import type { ToolDeclaration } from '../core/model.ts'
import type { Review } from './review-call.ts'
import type { ToolResult } from './tool-result.ts'
import type { WorkingState } from './working-state.ts'

/** Where a call would run, for decisions that have to be made before it does. */
export type ToolPlace = {
  /** Real path of the directory the run works in. */
  readonly workspace: string
  readonly sandbox: Sandbox
}

/** What a call may use, and where it reports its progress. All calls of a run share it, except for the call's own id and signal. */
export type ToolContext = ToolPlace & {
  readonly callId: string
  /** What the Guardian would say, without asking anybody. */
  readonly guardian: Pick<Guardian, 'assess' | 'mode' | 'canAsk'>
  /** Asks the Guardian about what the call is about to do. */
  readonly review: Review
  /** The sandboxes for what was granted. Absent: the run's sandbox can't be escalated. */
  readonly escalation?: Escalation
  /** Aborted when the run is stopped, or when a parallel call fails. */
  readonly signal: AbortSignal
  /** Opens an item of the event stream and gives the function that closes it. */
  startItem(item: ItemDraft): ItemHandle
  /** Variables for commands, in addition to those that the sandbox passes on. Absent: none. */
  readonly variables?: Readonly<Record<string, string>>
  /** The state that calls share. */
  readonly state: WorkingState
}

/** The context of a tool with an `action`: that action, as it was approved. Act on this one, not on the input. */
export type ApprovedContext<A extends Action> = ToolContext & { readonly approved: Approved<A> }

/** An item that has begun. It must be completed, whatever happens. */
export type ItemHandle = {
  /** Reports progress while it runs. */
  update(changes: Partial<Item>): void
  /** Gives displays a function that reads the end of its output so far: sanitized, without secrets. */
  tail(read: () => string): void
  complete(changes: Partial<Item>): void
}

/** The traits of a tool besides its action. Absent traits have the safe default. */
type ToolTraits<Value> = {
  readonly name: string
  readonly description: string
  /**
   * JSON Schema for the model, where it comes from elsewhere. Default: that of `input`.
   */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** False leaves the tool out of requests: a call of it works, but it isn't offered. Default: true. */
  readonly declared?: boolean
  /** False leaves the tool out of the run altogether. Default: true. */
  readonly enabled?: boolean
  /** False for a tool that needs a person; without one its calls are refused. Default: true. */
  readonly headless?: boolean
  /** True: named in requests only, its schema is shown when it is searched for. Default: false. */
  readonly deferred?: boolean
  /** True: in every request, even where tools of its source are deferred. Default: false. */
  readonly alwaysLoad?: boolean
  /** Whether the model may be told between turns that the tool may help, where it is deferred. Default: true. */
  readonly suggested?: boolean
  /** True for a tool whose calls may run in parallel once the response is complete, though they may change things. Default: false. */
  readonly sideBySide?: boolean
  /** Other names that models use for fields of the input, each with its field. Default: none. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Search terms in addition to its name and description. */
  readonly searchHint?: string
  /**
   * Claude Code's names for its own tools that do the same. Hooks, `allowed-tools` and permissions written for those guard this one too,
   * and see its calls under each of the names; a `path` as Claude Code's absolute `file_path`. Default: none: only its own name guards it.
   */
  readonly claudeNames?: readonly string[]
  /** True where the tool opens items of its own kind for its calls. Default: false, each call is a `tool_call` item. */
  readonly ownItems?: boolean
  /**
   * True for a tool that changes nothing except through actions that the Guardian judges, so that a call may begin in plan mode. A tool
   * that is read-only or has an `action` may in any case. Default: false.
   */
  readonly guarded?: boolean
  /** Whether a call with this input changes nothing. Default: no. */
  readOnly?(input: Value, place: ToolPlace): boolean
  /** Whether a call with this input may run in parallel, and before the model has finished its answer. Default: no. */
  concurrencySafe?(input: Value, place: ToolPlace): boolean
  /** The input for hooks, where a call means more than it says. Default: the input. */
  seenAs?(input: Value, context: ToolContext): Readonly<Record<string, unknown>>
  /** What is wrong with an input that fits the schema, in words for the model; undefined when nothing is. */
  validate?(input: Value, context: ToolContext): string | undefined | Promise<string | undefined>
}

type TakesInput<Input extends z.ZodType> = {
  /** The input a call must have; its JSON Schema is what the model sees. */
  readonly input: Input
  /** Declares the tool as taking plain text under a grammar where a provider can do that; `fromText` makes it the input. */
  readonly freeform?: {
    readonly description: string
    readonly grammar: string
    readonly fromText: (text: string) => z.input<Input>
  }
}

/** A tool as its author writes it. */
export type ToolDefinition<Input extends z.ZodType> = ToolTraits<z.output<Input>> &
  TakesInput<Input> & {
    readonly action?: never
    readonly refusal?: never
    run(input: z.output<Input>, context: ToolContext): Promise<ToolResult>
  }

/** A tool whose calls the Guardian judges before they run. */
export type GuardedToolDefinition<Input extends z.ZodType, A extends Action> = ToolTraits<z.output<Input>> &
  TakesInput<Input> & {
    /** What a call with this input would do. */
    action(input: z.output<Input>, place: ToolPlace): A
    /** Why it is impossible here regardless of approval, in words for the model: nobody is asked then. Default: it is possible. */
    refusal?(input: z.output<Input>, place: ToolPlace): string | undefined
    run(input: z.output<Input>, context: ApprovedContext<A>): Promise<ToolResult>
  }

/** A tool with its input type closed over, so that tools of different inputs fit in one list. */
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
  /** Undefined for a tool that is understood but not offered. */
  readonly declaration: ToolDeclaration | undefined
  /** The arguments in the text of a call, by the names of the input's fields; or what is wrong with them. */
  parse(kind: 'function' | 'freeform', text: string): { readonly json: unknown } | { readonly error: string }
  /** Checks arguments against the input's schema. Gives either what to run, or why it can't run. */
  check(json: unknown): CheckedCall
}

/** Arguments that were checked. */
export type CheckedCall = ValidCall | { readonly valid: false; readonly error: string }

/** A call whose arguments fit the schema. */
export type ValidCall = {
  readonly valid: true
  readOnly(place: ToolPlace): boolean
  concurrencySafe(place: ToolPlace): boolean
  /** The input for hooks; undefined: unchanged. */
  seenAs(context: ToolContext): Readonly<Record<string, unknown>> | undefined
  validate(context: ToolContext): Promise<string | undefined>
  /** Undefined for a tool that asks the Guardian itself, or needs no approval. */
  action(place: ToolPlace): Action | undefined
  /** Why the action is to be refused without asking anybody; undefined when it isn't. */
  refusal(place: ToolPlace): string | undefined
  /** @param approved the action, if there is one, as the Guardian returned it */
  run(context: ToolContext, approved: Approved | undefined): Promise<ToolResult>
}
