/** The name that our fingerprints have among those of a SARIF result. */
export const fingerprintName = 'portcullis/v1'
