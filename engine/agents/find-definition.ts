import { nearest } from '../core/text/nearest.ts'
import type { AgentDefinition } from '../skills/definition.ts'

/** Finds the definition that a call names; `definition` is undefined if it names none. If the definition doesn't exist, `problem` is a message. */
export function findDefinition(
  name: string | undefined,
  definitions: readonly AgentDefinition[],
): { readonly definition: AgentDefinition | undefined } | { readonly problem: string } {
  const definition = definitions.find((one) => one.name === name)
  if (name === undefined || definition !== undefined) return { definition }
  const known = definitions.map((one) => one.name)
  const near = nearest(name, known)
  const hint = near === undefined ? `Defined agents: ${known.join(', ') || 'none'}.` : `Did you mean '${near}'?`
  return { problem: `There is no agent '${name}'. ${hint}` }
}
