import { describeOmitted, renderMemory } from '../../memory/render-memory.ts'
import { saveMemory } from '../../memory/save-memory.ts'
import type { Feature } from '../feature.ts'

/** The instructions from the user and the repository, and the tool that adds to them. */
export const memoryFeature: Feature = {
  name: 'memory',
  open: ({ memory, memoryPlaces }) => ({
    tools: [saveMemory(memoryPlaces)],
    context: renderMemory(memory),
    notices: describeOmitted(memory),
  }),
}
