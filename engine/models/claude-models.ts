import { agentDefaults } from './agent-defaults.ts'

/** Returns the version in a model's name as a number, such as 505 for `claude-opus-5-5-20260801`; undefined if the name has another form. */
function generation(model: string): number | undefined {
  const [, major, minor = '0'] = /claude-[a-z]+-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ?? []
  return major === undefined ? undefined : Number(major) * 100 + Number(minor)
}

function isFableOrMythos(model: string): boolean {
  return /claude-(?:fable|mythos)/.test(model)
}

/** Whether a model thinks within a fixed budget and doesn't support adaptive thinking: all models up to Claude 4.5. */
export function thinksByBudget(model: string): boolean {
  return /claude-(?:[23]|instant|(?:opus|sonnet|haiku)-4(?:-[015])?(?:-\d{8}|@|:|-latest|-v\d|$))/.test(model)
}

/** Whether the provider can enforce a schema for this model: Claude 4.5 and later. */
export function enforcesSchema(model: string): boolean {
  return !thinksByBudget(model) || /-4-5/.test(model)
}

/**
 * Whether a thinking block is valid only in the conversation that it was created in, with everything before it unchanged
 * (https://platform.claude.com/docs/en/build-with-claude/preserved-thinking). This applies from Fable 5.1 and, in the other families, from
 * 5.5 on.
 */
export function preservesThinking(model: string): boolean {
  const version = generation(model)
  return version !== undefined && version >= (isFableOrMythos(model) ? 501 : 505)
}

/**
 * Returns the setting with which a model thinks least. Some models don't allow thinking to be switched off
 * (https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5#thinking-cant-be-disabled). From 5.5 on, Sonnet has a separate value
 * (`between_tools`) for its least thinking (https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5#turn-off-up-front-thinking).
 */
export function leastThinking(model: string): 'disabled' | 'between_tools' | 'always' {
  if (isFableOrMythos(model)) return 'always'
  if (!preservesThinking(model) || model.includes('claude-haiku')) return 'disabled'
  return model.includes('claude-sonnet') ? 'between_tools' : 'always'
}

/** Returns the default token limit for one answer, from the table of defaults. If the table has none for a model, a fixed default applies. */
export function longestAnswer(model: string): number {
  return agentDefaults(model).maxOutput ?? 64_000
}
