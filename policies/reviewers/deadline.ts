/** How a wait ended: with a value, a timeout, or an interruption. */
type Waited<T> =
  { readonly status: 'done'; readonly value: T } | { readonly status: 'timed-out' } | { readonly status: 'interrupted' }

/**
 * Waits a limited time for work to finish. When the time is up, or when `signal` is aborted, aborts the signal that was passed to the work and stops
 * waiting, even if the work continues. Errors from the work are passed on.
 */
export async function waitWithin<T>(
  milliseconds: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Waited<T>> {
  const timeout = new AbortController()
  const stop = signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, signal])
  const timer = setTimeout(() => timeout.abort(), milliseconds)
  const stopped = new Promise<Waited<T>>((done) => {
    const end = (): void => done({ status: timeout.signal.aborted ? 'timed-out' : 'interrupted' })
    if (stop.aborted) end()
    else stop.addEventListener('abort', end, { once: true })
  })
  try {
    const finished = work(stop).then((value): Waited<T> => ({ status: 'done', value }))
    // If the work fails after the waiting has ended, its failure no longer matters.
    finished.catch(() => undefined)
    return await Promise.race([finished, stopped])
  } finally {
    clearTimeout(timer)
  }
}
