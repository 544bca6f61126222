import process from 'node:process'
import type { RequestGate } from '../core/request-gate.ts'
import { supervisorMessage, type RunMessage } from '../batch/run/supervisor-messages.ts'

/**
 * A gate that asks this process's supervisor before each request. If the supervisor is gone, every request is admitted, because the run will soon end anyway.
 *
 * @param say sends a message to the supervisor
 */
export function gateOfSupervisor(say: (message: RunMessage) => void): RequestGate {
  const waiting = new Map<number, () => void>()
  let last = 0
  process.on('message', (said) => {
    const message = supervisorMessage.safeParse(said)
    if (!message.success) return
    waiting.get(message.data.id)?.()
    waiting.delete(message.data.id)
  })
  return {
    enter: async (account, tokens, signal) => {
      signal.throwIfAborted()
      const id = ++last
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const stop = (): void => {
        waiting.delete(id)
        // The request won't be sent, even if the supervisor admitted it in the meantime, so the supervisor must not count it.
        say({ type: 'left', id, end: { type: 'failed', kind: 'other' } })
        reject(signal.reason as Error)
      }
      waiting.set(id, resolve)
      signal.addEventListener('abort', stop, { once: true })
      if (process.connected) say({ type: 'enter', id, account: { ...account }, tokens })
      else resolve()
      await promise
      signal.removeEventListener('abort', stop)
      return {
        arrived: () => say({ type: 'arrived', id }),
        left: (end) => say({ type: 'left', id, end: withoutUndefined(end) }),
      }
    },
    heard: (account, { requests, tokens }) =>
      say({
        type: 'heard',
        account: { ...account },
        ...(requests === undefined ? {} : { requests }),
        ...(tokens === undefined ? {} : { tokens }),
      }),
  }
}

function withoutUndefined<T extends { readonly type: string }>(end: T): T {
  return Object.fromEntries(Object.entries(end).filter(([, value]) => value !== undefined)) as T
}
