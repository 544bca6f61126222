/** The parts of the machine that this uses. */
export type Machine = {
  /** The text of a file; undefined where it can't be read. */
  readonly read: (path: string) => string | undefined
  /** Runs a program to its end with this standard input. Returns whether it succeeded. */
  readonly run: (program: string, args: readonly string[], stdin?: string) => boolean
}

/** Allows one program what Ubuntu 24.04 forbids to all: a user namespace of its own. */
const profile = `abi <abi/4.0>,
include <tunables/global>
profile portcullis-bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
}
`

/**
 * Lets bubblewrap work where AppArmor forbids user namespaces, as on GitHub's hosted Ubuntu: by a profile only for `/usr/bin/bwrap`. The machine's
 * settings and sudo's stay unchanged. It does nothing if bubblewrap works already, or if sudo asks for a password.
 */
export function allowBubblewrap({ read, run }: Machine): 'not-needed' | 'loaded' | 'failed' {
  if (read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns')?.trim() !== '1') return 'not-needed'
  const works = (): boolean => run('/usr/bin/bwrap', ['--unshare-user', '--ro-bind', '/', '/', '/bin/true'])
  if (works()) return 'not-needed'
  return run('/usr/bin/sudo', ['-n', '/usr/sbin/apparmor_parser', '--replace'], profile) && works()
    ? 'loaded'
    : 'failed'
}
