import { modelFamily } from './family.ts'

/** The maximum number of tools in a request (https://platform.openai.com/docs/api-reference/chat/create#chat-create-tools). */
export const mostTools = 128

/** The maximum length of a tool's name (https://platform.openai.com/docs/api-reference/chat/create#chat-create-tools). */
export const longestName = 64

/** Removes a router's prefix from a name: `openai/gpt-5.5` becomes `gpt-5.5`. */
function bareName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}

/** Whether a model returns reasoning. Other models refuse a request that asks for it. */
export function reasons(model: string): boolean {
  return !/^(?:gpt-3|gpt-4|chatgpt-)|-chat-latest$/.test(bareName(model))
}

/**
 * Whether a model's name shows that it accepts freeform tools with a grammar, as GPT-5 and later models do. For all other models, freeform tools are
 * declared as functions.
 */
export function takesFreeform(model: string): boolean {
  return modelFamily(model) === 'gpt'
}

/** Whether a model's name shows that OpenAI's own API offers it. The open model `gpt-oss` runs elsewhere. */
export function isOpenAIs(model: string): boolean {
  return /^(?:gpt-(?!oss)|chatgpt-|codex-|o\d)/.test(bareName(model))
}
