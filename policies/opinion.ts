/** The opinion of one stage of the review. */
export type Opinion = {
  readonly decision: 'allow' | 'ask' | 'deny'
  /** The name of the stage, e.g. `rules`, `analysis` or `mode`. */
  readonly stage: string
  readonly reason: string
  /** The `file:line` and the content of the deciding rule or permission. Absent: none decides. */
  readonly rule?: string
}

const severity = { allow: 0, ask: 1, deny: 2 } as const

/** Returns the strictest opinion, and the first of several that are equally strict. Undefined only if there is no opinion. */
export function strictest(opinions: readonly Opinion[]): Opinion | undefined {
  return opinions.reduce<Opinion | undefined>(
    (worst, opinion) =>
      worst === undefined || severity[opinion.decision] > severity[worst.decision] ? opinion : worst,
    undefined,
  )
}
