import { modelFamily } from './family.ts'

/** How many tools a request may have (https://platform.openai.com/docs/api-reference/chat/create#chat-create-tools). */
export const mostTools = 128

/** How long a tool's name may be (https://platform.openai.com/docs/api-reference/chat/create#chat-create-tools). */
export const longestName = 64

/** The name without a router's prefix: `openai/gpt-5.5` is `gpt-5.5`. */
function bareName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}

/** Whether a model returns reasoning. The others refuse a request for it. */
export function reasons(model: string): boolean {
  return !/^(?:gpt-3|gpt-4|chatgpt-)|-chat-latest$/.test(bareName(model))
}

/**
 * Whether a model takes freeform tools with a grammar: GPT-5 and later. All others, and servers that imitate the API,
 * get the same tool as a function.
 */
export function takesFreeform(model: string): boolean {
  return modelFamily(model) === 'gpt'
}

/** Whether a model belongs to OpenAI's own API, by its name. The open `gpt-oss` runs elsewhere. */
export function isOpenAIs(model: string): boolean {
  return /^(?:gpt-(?!oss)|chatgpt-|codex-|o\d)/.test(bareName(model))
}
