export { openAgent } from './library/open-agent.ts'
export type { Agent, AgentOptions, AgentResult, AgentRun, JsonSchema, RunOptions } from './library/agent-options.ts'
export type { ReviewFunction } from './approvals/function-reviewer.ts'
export { openRun } from './app/open-run.ts'
export type { Run, RunRequest, Task } from './app/run-request.ts'
export { RunEvent, schemaVersion, type Item, type RunSummary, type Sink } from './core/events.ts'
export { exitCodes, type EndReason } from './core/exit-codes.ts'
export {
  ModelError,
  type HistoryItem,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type ToolCall,
  type ToolDeclaration,
  type Usage,
} from './core/model.ts'
export { openModel, recordModel } from './models/index.ts'
export type { CallHooks, HookedCall, HookOpinion } from './tools/hook-interface.ts'
export { FileError } from './tools/files/open-files.ts'
export { defineTool } from './tools/define-tool.ts'
export { builtInTools } from './app/built-in-tools.ts'
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
export { UserError } from './core/user-error.ts'
