/** How verbose a model is. */
type Verbosity = 'low' | 'medium' | 'high'

/** How a model maker's own coding agent configures a model. Absent fields are not sent, so the provider's default applies. */
type AgentDefaults = {
  readonly effort?: string
  readonly verbosity?: Verbosity
  /** The maximum number of tokens in one answer. Codex doesn't set one. */
  readonly maxOutput?: number
}

const codex: AgentDefaults = { effort: 'medium', verbosity: 'low' }

/**
 * The defaults by model name. The first row that matches is used.
 *
 * - GPT: the reasoning level and the verbosity from Codex's list of models (https://github.com/openai/codex/blob/main/codex-rs/core/models.json). No
 *   verbosity is sent to models before GPT-5.3 with `codex` in their name, because they don't accept one. No effort or verbosity is sent to the `pro`
 *   and `chat` models, because they accept only certain values.
 * - Claude: the effort that Claude Code requests, `high` (https://platform.claude.com/docs/en/build-with-claude/effort), and 64,000 tokens if the model
 *   allows that many. For models before 4.6, the effort determines a thinking budget; models before 3.7 don't think.
 */
const rows: readonly (readonly [name: RegExp, defaults: AgentDefaults])[] = [
  [/^gpt-[\d.]{1,4}(?:-[a-z]{1,12})?-(?:pro|chat)(?![a-z])|^gpt-[\d.]{1,4}-(?:pro|chat)(?![a-z])/, {}],
  [/^gpt-5(?:\.[12])?-codex/, { effort: 'medium' }],
  [/^gpt-(?:[5-9]|\d{2})/, codex],
  [/^claude-2|^claude-3-(?:opus|sonnet|haiku)/, { maxOutput: 4096 }],
  [/^claude-3-5/, { maxOutput: 8192 }],
  [/^claude-opus-4(?:-[01])?(?:-\d{8}|@|:|-latest|-v\d|$)/, { effort: 'high', maxOutput: 32_000 }],
  [/^claude-/, { effort: 'high', maxOutput: 64_000 }],
]

/**
 * Returns the defaults of a model. They apply to settings that neither the user nor the run specifies.
 *
 * @param model the name that its provider uses, with or without a router's prefix: `us.anthropic.claude-opus-5-5` or `openai/gpt-5.5`
 */
export function agentDefaults(model: string): AgentDefaults {
  const name = model.slice(Math.max(0, model.search(/claude-|gpt-/)))
  return rows.find(([pattern]) => pattern.test(name))?.[1] ?? {}
}
