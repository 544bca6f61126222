import process from 'node:process'
import type { Writable } from 'node:stream'

/**
 * Copies this process's own standard input to a command that a daemon runs, because the descriptor itself can't be passed to that command. Returns a
 * function that stops the copying, so that this process can exit even if the input stays open. Input that was read but not yet used by the command is
 * lost.
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
