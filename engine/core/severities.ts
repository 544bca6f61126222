// The severities and categories have a file of their own, because the command line needs only these names and not the schemas.

/** The severities of a review finding, from the mildest to the worst. */
export const severities = ['low', 'medium', 'high', 'critical'] as const

/** The categories of a review finding. */
export const categories = ['bug', 'security', 'performance', 'compatibility', 'tests', 'maintainability'] as const

export type Severity = (typeof severities)[number]
