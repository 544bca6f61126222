import { formatHead, type Guardian } from '../../policies/index.ts'
import type { CredentialUse } from '../../sandbox/index.ts'
import { useItem } from './record/credentials-seen.ts'
import { connectionItem } from './record/services-seen.ts'
import type { Recorder } from './recorder.ts'
import type { RunOptions } from './run-options.ts'

/** The maximum number of connections to services, and of uses of credentials, that are events. A command can make connections in a loop. */
const mostConnections = 1000

/**
 * Records a run's connections to services as events, and its uses of credentials as events and in the audit log. `lastHead` returns the head of that log,
 * to which nothing is added afterwards.
 */
export function followConnections(
  { connections }: RunOptions,
  recorder: Recorder,
  guardian: Guardian,
): { readonly lastHead: () => string } {
  let isLogOpen = true
  const { seen } = recorder.counts
  connections?.listen(
    (connection, isOpen) => {
      const item = connectionItem(connection, isOpen)
      if (seen.services.connections < mostConnections) recorder.complete(item)
      else seen.services.see(item)
    },
    (use) => {
      const item = useItem(use)
      if (seen.credentials.uses < mostConnections) {
        recorder.complete(item)
        if (isLogOpen) note(guardian, use)
      } else seen.credentials.see(item)
    },
  )
  return {
    lastHead: () => {
      isLogOpen = false
      return formatHead(guardian.head())
    },
  }
}

function note(guardian: Guardian, { credential, host, operation, status, durationMs }: CredentialUse): void {
  const [name = host, port = '443'] = host.split(/:(\d+)$/)
  const action = { type: 'network', host: name, port: Number(port), protocol: 'https', sandboxed: true } as const
  const reason = `${operation}: ${status === undefined ? 'no answer' : `status ${status}`}`
  guardian.note(action, { by: `credential ${credential}`, reason }, durationMs)
}
