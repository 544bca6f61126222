import type { HookOutput } from './output.ts'

/** The outcome of a handler. `blocked`: it denied the event. `failed`: it gave no answer. */
export type HandlerResult =
  | { readonly status: 'answered'; readonly output: HookOutput; readonly text: string }
  | { readonly status: 'blocked'; readonly reason: string }
  | { readonly status: 'failed'; readonly reason: string }
