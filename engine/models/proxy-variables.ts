/** The environment variables that name a proxy for requests, those for https first. */
export const proxyVariables: readonly string[] = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']
