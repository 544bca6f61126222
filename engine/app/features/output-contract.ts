import type { Feature } from '../feature.ts'

/** The final message meets a schema; where a provider can't be held to it, a tool takes it. */
export const outputContractFeature: Feature = {
  name: 'output contract',
  open: ({ output }) => ({ ownTools: output?.tool === undefined ? [] : [output.tool] }),
}
