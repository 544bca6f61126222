import type { Sandbox } from '../../../sandbox/index.ts'

/**
 * Returns a variant of a sandbox in which only temporary files can be written. A sandbox that is already read-only is returned unchanged, and so is
 * one that confines nothing (`danger-full-access`), because it can't restrict anything.
 */
export function readOnlySandbox(sandbox: Sandbox): Sandbox {
  const { policy, backend, unenforced, fence, node, shell, known } = sandbox
  if (policy.mode !== 'workspace-write') return sandbox
  return {
    backend,
    unenforced,
    node,
    shell,
    ...(fence === undefined ? {} : { fence }),
    ...(known === undefined ? {} : { known }),
    policy: { ...policy, mode: 'read-only' },
    spawn: (command) => sandbox.spawn({ ...command, readOnly: true }),
    inspect: () => sandbox.inspect(),
    isWriting: () => sandbox.isWriting(),
    close: () => sandbox.close(),
  }
}
