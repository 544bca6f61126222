import type { Feature } from '../feature.ts'

/** Makes the final message match a schema. If the provider can't enforce the schema, the model delivers the message through a tool. */
export const outputContractFeature: Feature = {
  name: 'output contract',
  open: ({ output }) => ({ ownTools: output?.tool === undefined ? [] : [output.tool] }),
}
