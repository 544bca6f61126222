/** The functions with which `allowBubblewrap` accesses the machine. */
export type Machine = {
  /** Returns the text of a file; undefined if it can't be read. */
  readonly read: (path: string) => string | undefined
  /** Runs a program with the given standard input and waits until it exits. Returns whether it succeeded. */
  readonly run: (program: string, args: readonly string[], stdin?: string) => boolean
}

/** An AppArmor profile that allows one program to create user namespaces. Ubuntu 24.04 refuses this to programs without such a profile. */
const profile = `abi <abi/4.0>,
include <tunables/global>
profile portcullis-bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
}
`

/**
 * Makes bubblewrap work if AppArmor forbids user namespaces, as on GitHub's hosted Ubuntu, by loading a profile only for `/usr/bin/bwrap`. The settings of the
 * machine and of sudo stay unchanged. The function does nothing if bubblewrap works already, or if sudo asks for a password.
 */
export function allowBubblewrap({ read, run }: Machine): 'not-needed' | 'loaded' | 'failed' {
  if (read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns')?.trim() !== '1') return 'not-needed'
  const works = (): boolean => run('/usr/bin/bwrap', ['--unshare-user', '--ro-bind', '/', '/', '/bin/true'])
  if (works()) return 'not-needed'
  return run('/usr/bin/sudo', ['-n', '/usr/sbin/apparmor_parser', '--replace'], profile) && works()
    ? 'loaded'
    : 'failed'
}
