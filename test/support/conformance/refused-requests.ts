/** The answers of provider mocks to requests that the provider would refuse. This list must be empty after each test. */
export const refusedRequests: string[] = []
