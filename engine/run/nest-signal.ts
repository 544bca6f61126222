/** A signal that is aborted by itself or together with its parent. */
export type NestedSignal = {
  readonly signal: AbortSignal
  /** Aborts this signal and those nested in it, but not the parent. */
  abort(reason: unknown): void
  /** Removes its listener from the parent. Otherwise the parent would keep a nested signal that is no longer used. */
  dispose(): void
}

/** Nests a signal in another, whose reason it passes on. */
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
