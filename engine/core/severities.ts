// Apart from the schemas: the command line needs no more to be read.

/** How bad a finding of a review is, the worst last. */
export const severities = ['low', 'medium', 'high', 'critical'] as const

/** What a finding of a review is of. */
export const categories = ['bug', 'security', 'performance', 'compatibility', 'tests', 'maintainability'] as const

export type Severity = (typeof severities)[number]
