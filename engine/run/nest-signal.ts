/** A signal that can be aborted separately, and is also aborted when its parent is. */
export type NestedSignal = {
  readonly signal: AbortSignal
  /** Aborts this signal and those nested in it, but not the parent. */
  abort(reason: unknown): void
  /** Removes the nested signal's listener from the parent. Otherwise the parent would keep the nested signal in memory. */
  dispose(): void
}

/** Creates a signal that is nested in a parent. If the parent is aborted, the new signal is aborted with the same reason. */
export function nestSignal(parent: AbortSignal): NestedSignal {
  const controller = new AbortController()
  const follow = (): void => controller.abort(parent.reason)
  if (parent.aborted) follow()
  else parent.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    dispose: () => parent.removeEventListener('abort', follow),
  }
}
