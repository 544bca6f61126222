/** A signal of its own that is also aborted with its parent's. */
export type NestedSignal = {
  readonly signal: AbortSignal
  /** Aborts this one and what is nested in it, not the parent. */
  abort(reason: unknown): void
  /** Takes its listener off the parent. A nested signal that outlives its use would be kept as long as the parent. */
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
