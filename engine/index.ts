export { RunEvent, schemaVersion, type Item, type RunSummary, type Sink } from './events.ts'
export { exitCodes, type EndReason } from './exit-codes.ts'
export {
  ModelError,
  type HistoryItem,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type ToolCall,
  type ToolDeclaration,
  type Usage,
} from './model.ts'
export { openModel, recordModel } from './models/index.ts'
export { environmentContext, instructionsFor } from './run/instructions.ts'
export type { CallHooks, HookedCall, HookOpinion } from './run/hooks.ts'
export { run } from './run/run.ts'
export type { RunOptions } from './run/run-options.ts'
export { openSession, type Session } from './session/session.ts'
export { defineTool } from './tools/define-tool.ts'
export { builtInTools } from './tools/index.ts'
export { createRegistry, type ToolRegistry } from './tools/registry.ts'
export type {
  ApprovedContext,
  GuardedToolDefinition,
  ItemHandle,
  Tool,
  ToolContext,
  ToolDefinition,
  ToolPlace,
} from './tools/tool.ts'
export type { ToolResult } from './tools/tool-result.ts'
export { UserError } from './user-error.ts'
