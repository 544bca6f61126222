/** Exit codes of sandbox-exec itself (sysexits(3)): it can't compile the profile, or it isn't allowed to apply it. */
const [profileRefused, applyRefused] = [65, 71]

const refusedToNest = /\bsandbox_apply: Operation not permitted/

/**
 * Whether the command's output shows an attempt to create a sandbox inside another one, which macOS refuses. If our own sandbox has already worked, a command
 * inside it made the attempt.
 */
export function triedToNest(stderr: string): boolean {
  return refusedToNest.test(stderr)
}

/**
 * Why sandbox-exec(1) didn't start a command, and what to do about it; undefined if the command itself failed. Messages of sandbox-exec and of the command
 * arrive on the same stream, so both the wording and the exit code must match.
 */
export function diagnoseSeatbelt(
  code: number | null,
  stderr: string,
): { readonly reason: string; readonly remedy: string } | undefined {
  const said = /^sandbox-exec: (.+)$/m.exec(stderr)?.[1]
  if (said === undefined) return undefined
  if (code === applyRefused && triedToNest(stderr)) {
    return {
      reason: 'this process is inside another Seatbelt sandbox already, and macOS does not nest sandboxes',
      remedy:
        'Run it from an ordinary terminal, or switch off the outer sandbox (swift build --disable-sandbox, for one), or use the docker backend.',
    }
  }
  if (code === profileRefused || code === applyRefused) {
    return {
      reason: `this version of macOS rejects the profile (${said})`,
      remedy: 'Use the docker backend, and report this problem with your version of macOS.',
    }
  }
  return undefined
}
