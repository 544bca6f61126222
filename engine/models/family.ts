/**
 * A family of models, by what they were trained on. `gpt`: Codex's patch format and tools. `openai`: older OpenAI models, trained on neither.
 * `claude`: edits by replacing text. `other`: unknown.
 */
export type ModelFamily = 'gpt' | 'openai' | 'claude' | 'other'

/**
 * Derives the family of a model from its name.
 *
 * @param model the value of `-m`. It may include the provider and additional path segments: `PROVIDER/vendor/NAME`
 */
export function modelFamily(model: string): ModelFamily {
  if (model.startsWith('replay:')) return 'other'
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  if (/^claude/.test(name)) return 'claude'
  if (/^(?:gpt-(?:[5-9]|\d{2})|codex-(?!mini))/.test(name)) return 'gpt'
  // gpt-oss doesn't count as OpenAI's: it runs on servers of all kinds and was trained on other tools.
  return /^(?:gpt-(?!oss)|chatgpt|codex|o\d)/.test(name) ? 'openai' : 'other'
}

/**
 * Returns one family that suits all of the models that may answer in a run, because a conversation keeps its tools and its instructions from the first
 * request to the last. For models from different makers, returns `other`.
 */
export function sharedFamily(models: readonly string[]): ModelFamily {
  const families = new Set(models.map(modelFamily))
  const [first = 'other', second] = families
  if (second === undefined) return first
  // The instructions for older OpenAI models also suit the newer ones.
  return [...families].every((family) => family === 'gpt' || family === 'openai') ? 'openai' : 'other'
}

/** Whether a model's name shows that it is one of Mistral's, on any server. These models restrict the ids of calls and the order of messages. */
export function isMistral(model: string): boolean {
  return /(?:mi[sx]tral|(?:code|dev|mini|magi)stral|pixtral)/i.test(model)
}
