import { describeOmitted, renderMemory } from '../../memory/render-memory.ts'
import { saveMemory } from '../../memory/save-memory.ts'
import type { Feature } from '../feature.ts'

/** Gives the model the instructions from the user and the repository, and the tool with which it can add to them. */
export const memoryFeature: Feature = {
  name: 'memory',
  open: ({ memory, memoryPlaces }) => ({
    tools: [saveMemory(memoryPlaces)],
    context: renderMemory(memory),
    notices: describeOmitted(memory),
  }),
}
