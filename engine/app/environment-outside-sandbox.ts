import { hostPath, type SandboxPolicy } from '../../sandbox/index.ts'

/**
 * The environment for what is configured to run outside the sandbox: PATH leaves out programs that commands could have put into the
 * workspace.
 */
export function environmentOutside(
  { environment, workspace, writableRoots }: SandboxPolicy,
  host: Readonly<NodeJS.ProcessEnv>,
): SandboxPolicy['environment'] {
  const path = hostPath([workspace, ...writableRoots], environment.set['PATH'] ?? host['PATH'])
  return { ...environment, set: { ...environment.set, PATH: path } }
}
