/** Who asks which model, as limits of providers are counted: by key and model. */
export type Account = {
  /** Where requests go. */
  readonly provider: string
  /** A hash of what the provider knows its customer by. */
  readonly key: string
  readonly model: string
}

/** What a provider says of its limits, a minute each; undefined where it doesn't. */
export type RateLimits = { readonly requests: number | undefined; readonly tokens: number | undefined }

/** How a request ended. */
export type RequestEnd =
  /** With what it used, as the provider counts it against its limits. */
  | { readonly type: 'answered'; readonly tokens: number }
  /** It was refused, or failed; with how long the provider asks to wait. `limit`: too many requests or tokens. `quota`: nothing is left to use. */
  | { readonly type: 'failed'; readonly kind: 'limit' | 'quota' | 'other'; readonly waitMs?: number | undefined }

/** What a request that was admitted tells of itself. */
export type Admission = {
  /** Its answer has begun: by now the provider counts it. */
  readonly arrived: () => void
  readonly left: (end: RequestEnd) => void
}

/** Asked before each request to a provider and told after it, so that many runs keep limits together. */
export type RequestGate = {
  /**
   * Waits until a request may be sent.
   *
   * @param tokens about how many it will use
   * @returns takes how it ended, to be called once, and before that, that the provider has it
   * @throws the signal's reason as soon as it aborts
   */
  enter(account: Account, tokens: number, signal: AbortSignal): Promise<Admission>
  /** Told what an answer says of the limits. */
  heard(account: Account, limits: RateLimits): void
}
