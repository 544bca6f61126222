import { afterEach, expect } from 'vitest'
import { refusedRequests } from './conformance/refused-requests.ts'

// Even if a test checks something else, the provider must accept all of its requests.
afterEach(() => {
  expect(refusedRequests.splice(0), 'requests that the provider would refuse').toEqual([])
})
