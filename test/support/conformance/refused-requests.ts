/** The answers of mock providers to requests that the real provider would refuse. This list must be empty after each test. */
export const refusedRequests: string[] = []
