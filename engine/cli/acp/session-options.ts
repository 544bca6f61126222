import { modelNames } from '../../models/index.ts'

/** What is asked about, by the mode of a session: its name, its description and its approval policy. */
export const modes = {
  ask: ['Ask', 'Asks before everything that doesn’t certainly only read.', 'untrusted'],
  edits: ['Accept edits', 'Like Ask, but edits within the project need no permission.', 'untrusted'],
  sandbox: ['Work in the sandbox', 'Asks before whatever leaves the sandbox.', 'on-request'],
  plan: ['Plan', 'Changes nothing, and asks before a plan is carried out.', 'untrusted'],
} as const

/** What the client has chosen for a session. */
export type Choices = { mode: keyof typeof modes; model: string; effort: string }

type Value = { readonly value: string; readonly name: string; readonly description?: string }

const ofMode: readonly Value[] = Object.entries(modes).map(([value, [name, description]]) => ({
  ...{ value, name, description },
}))
const named = (values: readonly string[]): readonly Value[] => values.map((value) => ({ value, name: value }))

/** The choices, each with its name, its category and its values. */
const choosable = (configured: string) =>
  [
    ['mode', 'Mode', 'mode', ofMode],
    ['model', 'Model', 'model', named([...new Set([configured, ...modelNames])])],
    ['effort', 'Effort', 'thought_level', named(['default', 'low', 'medium', 'high', 'xhigh'])],
  ] as const

/** Everything that the client can choose, and the modes in the protocol's older form. `configured`: the model unless another is chosen. */
export function optionsOf(choices: Choices, configured: string) {
  const configOptions = choosable(configured).map(([id, name, category, options]) => {
    return { type: 'select', id, name, category, currentValue: choices[id], options }
  })
  const availableModes = ofMode.map(({ value: id, ...shown }) => ({ id, ...shown }))
  return { modes: { currentModeId: choices.mode, availableModes }, configOptions }
}

/** Makes a choice of the client. Returns false if there is none of this name, or no such value. */
export function choose(choices: Choices, id: string, value: string, configured: string): boolean {
  const [name, , , values = []] = choosable(configured).find(([each]) => each === id) ?? []
  if (name === undefined || !values.some((each) => each.value === value)) return false
  Object.assign(choices, { [name]: value })
  return true
}
