import { claude } from './prompts/claude.ts'
import { gpt } from './prompts/gpt.ts'
import { other } from './prompts/other.ts'

/**
 * What models are told about their work here, in the words that suit their maker's.
 *
 * @param models the names of those that may be asked in one run, as users give them: they all get the same text, since a
 *   conversation keeps it from its first request to its last
 */
export function instructionsFor(models: readonly string[]): string {
  const [first, ...others] = new Set(models.map(familyOf))
  return first === undefined || others.length > 0 ? other : first
}

/** A name may carry its provider and further folders: `PROVIDER/vendor/NAME`. */
function familyOf(model: string): string {
  if (model.startsWith('replay:')) return other
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  if (/^claude/.test(name)) return claude
  // gpt-oss speaks through servers that know no freeform tools, and was not trained on the format.
  if (/^(?:gpt-(?!oss)|chatgpt|codex|o\d)/.test(name)) return gpt
  return other
}

/** Where a run takes place, told to the model before the prompt. */
export function environmentContext(facts: {
  readonly workspace: string
  /** What reads command lines. */
  readonly shell: string
  readonly sandboxMode: string
  readonly network: string
  readonly approvalPolicy: string
  /** Who answers when the Guardian asks. */
  readonly reviewer: string
}): string {
  return [
    '<environment>',
    `working directory: ${facts.workspace}`,
    `shell: ${facts.shell}`,
    `sandbox: ${facts.sandboxMode}; network: ${facts.network}`,
    `approvals: ${facts.approvalPolicy}; ${facts.reviewer}`,
    '</environment>',
  ].join('\n')
}
