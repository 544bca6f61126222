/** The key of our fingerprints in a SARIF result. */
export const fingerprintName = 'portcullis/v1'
