/** What mocks of providers have answered to requests that the provider would refuse. A test must leave it empty. */
export const refusedRequests: string[] = []
