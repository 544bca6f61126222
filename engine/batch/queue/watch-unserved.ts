import { counted } from '../../core/text/counted.ts'
import type { Unserved } from './worker-registry.ts'

const [lookMs, firstMs, againMs] = [1000, 10_000, 60_000]

/**
 * Tells the user that no worker serves runs of a batch: when that has been so for ten seconds, and then each minute. Without this, a batch whose workers were
 * never started would seem to work.
 *
 * @param unserved the runs that no live worker can execute
 * @param say receives the sentences
 * @returns a function that stops watching
 */
export function watchUnserved(unserved: () => readonly Unserved[], say: (sentence: string) => void): () => void {
  let since: number | undefined
  let next = firstMs
  const look = (): void => {
    const without = unserved()
    if (without.length === 0) {
      ;[since, next] = [undefined, firstMs]
      return
    }
    since ??= Date.now()
    if (Date.now() - since < next) return
    next += againMs
    const seconds = Math.round((Date.now() - since) / 1000)
    for (const { labels, runs } of without) {
      const which = labels.length === 0 ? '' : ` with the labels ${labels.join(', ')}`
      const wait = runs === 1 ? 'run waits' : 'runs wait'
      say(
        `${runs} ${wait} for a worker${which}, and none has been there for ${counted(seconds, 'second')}: start one with agent batch worker${labels.length === 0 ? '' : ` --labels ${labels.join()}`}, with the same --queue as this batch.`,
      )
    }
  }
  const timer = setInterval(look, lookMs)
  return () => clearInterval(timer)
}
