import process from 'node:process'
import { activity } from '../display/activity.ts'
import type { Sink } from '../core/events.ts'
import { UserError } from '../core/user-error.ts'
import type { RunMessage } from '../batch/run/supervisor-messages.ts'
import type { RequestGate } from '../core/request-gate.ts'
import { gateOfSupervisor } from './supervised-gate.ts'

/** How long a run may take to end cleanly after its supervisor has died, in milliseconds. */
const graceMs = 15_000

/**
 * Connects a run to the supervisor that started it. The run reports its progress to the supervisor, and ends if the supervisor's process ends.
 *
 * @throws UserError `usage` if no supervisor started the run
 */
export function connectSupervisor(): {
  readonly sink: Sink
  readonly gate: RequestGate
  readonly release: (interrupt: () => void) => () => void
} {
  if (process.send === undefined) {
    throw new UserError('usage', '--supervised is for runs that agent batch starts: leave it out.')
  }
  const say = (message: RunMessage): void => {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
  }
  return {
    gate: gateOfSupervisor(say),
    sink: {
      event: (event) => {
        if (event.type === 'thread.started') say({ type: 'began', thread: event.thread_id })
        else if (event.type === 'turn.started') say({ type: 'step', what: 'the model is thinking' })
        else if (event.type === 'item.started') say({ type: 'step', what: activity(event.item) })
      },
      spent: ({ turns, tokens, costUsd }) =>
        say({ type: 'spent', turns, tokens, ...(costUsd === undefined ? {} : { cost_usd: costUsd }) }),
    },
    release: (interrupt) => {
      const stop = (): void => {
        interrupt()
        setTimeout(() => process.kill(process.pid, 'SIGKILL'), graceMs).unref()
      }
      if (process.connected) process.once('disconnect', stop)
      else stop()
      return () => {
        process.off('disconnect', stop)
        if (process.connected) process.disconnect?.()
      }
    },
  }
}
