import { hostPath, type SandboxPolicy } from '../../sandbox/index.ts'

/**
 * The environment for programs that are configured to run outside the sandbox. Their PATH excludes directories of the workspace, in which commands could have
 * put programs.
 */
export function environmentOutside(
  { environment, workspace, writableRoots }: SandboxPolicy,
  host: Readonly<NodeJS.ProcessEnv>,
): SandboxPolicy['environment'] {
  const path = hostPath([workspace, ...writableRoots], environment.set['PATH'] ?? host['PATH'])
  return { ...environment, set: { ...environment.set, PATH: path } }
}
