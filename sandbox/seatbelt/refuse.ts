import { SandboxError } from '../sandbox-error.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { Command } from '../sandbox.ts'

/** The platform, and whether the user is root. */
type Caller = { readonly platform: NodeJS.Platform; readonly root: boolean }

/** Default guarantees that macOS can't enforce, as sentences for a run's summary. */
export const unenforcedOnMacOs: readonly string[] = [
  'the number of processes is not limited: macOS counts all processes of a user together',
  'memory is not limited: macOS enforces no such limit on a process',
  'a process that leaves its process group and hides its environment may continue after its command has ended, but stays confined',
]

/** Throws `unavailable` if Seatbelt can't enforce some part of the policy here. Such a policy is refused rather than weakened. */
export function refuseUnenforceable(policy: SandboxPolicy, caller: Caller): void {
  const refuse = (reason: string, remedy: string): never => {
    throw new SandboxError('unavailable', { backend: 'seatbelt', reason, remedy })
  }
  if (policy.mode === 'danger-full-access') {
    refuse(
      'danger-full-access mode requests no confinement, but this backend always confines commands',
      'Choose read-only or workspace-write mode, or the unconfined backend.',
    )
  }
  if (caller.platform !== 'darwin') {
    refuse(`sandbox-exec is part of macOS, but this is ${caller.platform}`, 'Use the bubblewrap or the docker backend.')
  }
  if (caller.root) {
    refuse(
      'in this sandbox, root keeps rights that a profile does not remove',
      'Run as an ordinary user, or use the docker backend.',
    )
  }
  if (policy.dockerSocket !== undefined) {
    refuse('the policy gives commands a docker socket, but the profile has no rule for that', 'Leave the socket out.')
  }
  if (policy.unixSockets) {
    refuse('the policy lets commands open unix sockets, but the profile has no rule for that', 'Leave unixSockets out.')
  }
  if (policy.limits.processes !== undefined) {
    refuse(
      'the policy sets limits.processes, but macOS counts all processes of a user together',
      'Leave the limit out, or use the docker backend.',
    )
  }
  if (policy.limits.memoryBytes !== undefined) {
    refuse(
      'the policy sets limits.memoryBytes, but macOS enforces no limit on memory',
      'Leave the limit out, or use the docker backend.',
    )
  }
}

/** Throws `unavailable` for a command that asks for a terminal. */
export function refuseTerminal(command: Command): void {
  if (command.terminal === undefined) return
  throw new SandboxError('unavailable', {
    backend: 'seatbelt',
    reason: 'a command asked for a terminal, and the sandbox has no program that creates one on macOS',
    remedy: 'Run the command without a terminal, or use the docker backend.',
  })
}
