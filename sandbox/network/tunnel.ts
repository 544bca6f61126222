import type { Socket } from 'node:net'

/** Copies bytes both ways until both sides have ended. If one side fails, it ends both. The bytes are never parsed as requests. */
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
