import type { Socket } from 'node:net'

/** Copies bytes in both directions until both sides have ended. If one side fails, both are closed. The bytes are not parsed. */
export function joinSockets(near: Socket, far: Socket): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.on('error', () => to.destroy())
    from.once('close', () => to.destroySoon())
    from.pipe(to)
  }
}
