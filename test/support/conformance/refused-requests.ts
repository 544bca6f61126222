/** The answers of provider mocks to requests that the provider would refuse. It must be empty after each test. */
export const refusedRequests: string[] = []
