import process from 'node:process'
import type { Writable } from 'node:stream'

/**
 * Passes this process's own standard input on to a command that a daemon runs, because the command can't be given the descriptor itself. Returns a
 * function that stops this, so that an input that stays open keeps nothing waiting. Input that has been read by then is lost.
 */
export function passOwnInput(to: Writable): () => void {
  const { stdin } = process
  const end = (): void => void to.end()
  stdin.once('error', end)
  stdin.pipe(to)
  return () => {
    stdin.off('error', end)
    stdin.unpipe(to)
    stdin.pause()
  }
}
