/** The longest delay that a timer accepts, in milliseconds. With a longer delay, Node would fire the timer immediately. */
const longestTimerMs = 2 ** 31 - 1

/** A timer that has been started, with a function that cancels it. */
export type LongTimeout = { readonly cancel: () => void }

/**
 * Calls `act` after the given number of milliseconds, which may be more than one of Node's timers accepts.
 *
 * @param keepsAlive whether the timer keeps the process alive
 * @internal
 */
export function setLongTimeout(act: () => void, milliseconds: number, keepsAlive = true): LongTimeout {
  let left = milliseconds
  let timer: NodeJS.Timeout | undefined
  const wait = (): void => {
    const part = Math.min(left, longestTimerMs)
    left -= part
    timer = setTimeout(left > 0 ? wait : act, part)
    if (!keepsAlive) timer.unref()
  }
  wait()
  return { cancel: () => clearTimeout(timer) }
}

/**
 * A signal that aborts after the given number of milliseconds, which may be more than one of Node's timers accepts. It doesn't keep the process
 * alive.
 *
 * @example const signal = timeoutSignal(60 * 24 * 60 * 60 * 1000) // sixty days, more than a timer accepts
 */
export function timeoutSignal(milliseconds: number): AbortSignal {
  if (milliseconds <= longestTimerMs) return AbortSignal.timeout(Math.ceil(milliseconds))
  const controller = new AbortController()
  setLongTimeout(() => controller.abort(new DOMException('It took too long.', 'TimeoutError')), milliseconds, false)
  return controller.signal
}

/**
 * Limits a delay to the longest one that a timer accepts (24 days). This is for timers in other packages.
 *
 * @internal
 */
export function timerDelay(milliseconds: number): number {
  return Math.min(milliseconds, longestTimerMs)
}
