import type { Sandbox } from '../../../sandbox/index.ts'

/**
 * A sandbox as one in which nothing can be written but temporary files. Where nothing is confined (`danger-full-access`) it stays as it
 * is: there is nothing to narrow.
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
