import { expect, test } from 'vitest'
import { builtInProviders, modelProviderSchema } from '../../../engine/models/provider-config.ts'

test.each(Object.entries(builtInProviders))('the provider %s has all defaults of the schema', (_, provider) => {
  const { name, base_url, wire_api } = provider
  expect(provider).toEqual(modelProviderSchema.parse({ name, base_url, wire_api }))
})
