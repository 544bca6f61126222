/** The account and the model of a request. Providers apply their limits to each combination of key and model. */
export type Account = {
  /** The provider that receives the requests. */
  readonly provider: string
  /** A hash of the credentials by which the provider identifies its customer. */
  readonly key: string
  readonly model: string
}

/** A provider's limits per minute. A limit is undefined if the provider doesn't state it. */
export type RateLimits = { readonly requests: number | undefined; readonly tokens: number | undefined }

/** The outcome of a request. */
export type RequestEnd =
  /** `tokens`: the number of tokens that the request used, as the provider counts them against its limits. */
  | { readonly type: 'answered'; readonly tokens: number }
  /**
   * The request was refused or failed. `limit`: there were too many requests or tokens. `quota`: the quota is used up. `waitMs`: how long the
   * provider asks its clients to wait before the next request.
   */
  | { readonly type: 'failed'; readonly kind: 'limit' | 'quota' | 'other'; readonly waitMs?: number | undefined }

/** How an admitted request reports its progress to the gate. */
export type Admission = {
  /** Reports that the answer has begun, which means that the provider has counted the request. */
  readonly arrived: () => void
  readonly left: (end: RequestEnd) => void
}

/**
 * The gate that each request to a provider enters before it is sent and leaves when it has ended. It makes sure that the requests of many runs
 * together don't exceed the provider's limits.
 */
export type RequestGate = {
  /**
   * Waits until a request may be sent.
   *
   * @param tokens roughly how many tokens the request will use
   * @returns two functions: call `arrived` when the answer begins, and `left`, once, with the outcome, when the request has ended
   * @throws the signal's reason as soon as it aborts
   */
  enter(account: Account, tokens: number, signal: AbortSignal): Promise<Admission>
  /** Receives what a provider's answer says about its rate limits. */
  heard(account: Account, limits: RateLimits): void
}
