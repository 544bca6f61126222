import type { HookOutput } from './output.ts'

/**
 * The outcome of a handler. `answered`: it gave an answer, perhaps a denial. `blocked`: it denied the event without such an answer. `failed`: it gave
 * no valid answer.
 */
export type HandlerResult =
  | { readonly status: 'answered'; readonly output: HookOutput; readonly text: string }
  | { readonly status: 'blocked'; readonly reason: string }
  | { readonly status: 'failed'; readonly reason: string }
