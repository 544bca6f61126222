import type { Sandbox } from '../../../sandbox/index.ts'

/**
 * The same sandbox, in which only temporary files can be written. Where nothing is confined (`danger-full-access`) it is returned
 * unchanged: nothing can be restricted.
 */
export function readOnlySandbox(sandbox: Sandbox): Sandbox {
  const { policy, backend, unenforced, node, shell, known } = sandbox
  if (policy.mode !== 'workspace-write') return sandbox
  return {
    backend,
    unenforced,
    node,
    shell,
    ...(known === undefined ? {} : { known }),
    policy: { ...policy, mode: 'read-only' },
    spawn: (command) => sandbox.spawn({ ...command, readOnly: true }),
    inspect: () => sandbox.inspect(),
    close: () => sandbox.close(),
  }
}
