import type * as z from 'zod'
import type { Guardian } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { CommandItem, FileChangeItem } from '../events.ts'
import type { ToolDeclaration } from '../model.ts'

/** What a call may use, and where it tells what it does. Shared by all calls of a run, but for the signal. */
export type ToolContext = {
  readonly callId: string
  /** Real path of the directory the run works in. */
  readonly workspace: string
  readonly sandbox: Sandbox
  readonly guardian: Guardian
  readonly signal: AbortSignal
  /** Opens an item of the event stream and gives what closes it. */
  startItem(item: Omit<CommandItem, 'id'> | Omit<FileChangeItem, 'id'>): ItemHandle
  /** Keeps a whole output for people and for the model to read on; gives the file's path. */
  keepOutput(bytes: Uint8Array): string
}

/** An item that has begun. It must be completed, whatever happens. */
export type ItemHandle = {
  complete(changes: Partial<CommandItem> | Partial<FileChangeItem>): void
}

/** What the model gets back. `ok` is false when the call did not do what it was for. */
export type ToolResult = { readonly output: string; readonly ok: boolean; readonly abort?: boolean }

/** A tool as its author writes it. */
export type ToolDefinition<Input extends z.ZodType> = {
  readonly name: string
  readonly description: string
  /** The input a call must have; its JSON Schema is what the model sees. */
  readonly input: Input
  /** Declares the tool as taking plain text under a grammar where a provider can do that; `fromText` makes it the input. */
  readonly freeform?: {
    readonly description: string
    readonly grammar: string
    readonly fromText: (text: string) => z.input<Input>
  }
  /** False keeps the tool out of requests: it is understood when called, not offered. Default: true. */
  readonly declared?: boolean
  run(input: z.output<Input>, context: ToolContext): Promise<ToolResult>
}

/** A tool with its input type closed over, so that tools of different inputs can stand in one list. */
export type Tool = {
  readonly name: string
  /** Undefined for a tool that is understood but not offered. */
  readonly declaration: ToolDeclaration | undefined
  /** Checks the text of a call against the input schema. Gives either what to run, or why it can't be run. */
  prepare(kind: 'function' | 'freeform', text: string): PreparedCall
}

export type PreparedCall =
  | { readonly valid: true; run(context: ToolContext): Promise<ToolResult> }
  | { readonly valid: false; readonly error: string }
