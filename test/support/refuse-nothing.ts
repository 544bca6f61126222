import { afterEach, expect } from 'vitest'
import { refusedRequests } from './conformance/refused-requests.ts'

// A test may look at something else altogether: what it sends to a provider has to be what that takes.
afterEach(() => {
  expect(refusedRequests.splice(0), 'requests that the provider would refuse').toEqual([])
})
