/** Exit codes of sandbox-exec itself (sysexits(3)): it can't compile the profile, or it isn't allowed to apply it. */
const [profileRefused, applyRefused] = [65, 71]

const refusedToNest = /\bsandbox_apply: Operation not permitted/

/**
 * Whether a command's error output shows an attempt to create a sandbox inside another one, which macOS refuses. If our own sandbox has worked
 * before, the attempt was made by a command inside it.
 */
export function triedToNest(stderr: string): boolean {
  return refusedToNest.test(stderr)
}

/**
 * Why sandbox-exec(1) didn't start a command, and what to do about it. Undefined if the command itself failed. The command and sandbox-exec write to
 * the same stream, so the wording and the exit code must match those of sandbox-exec.
 */
export function diagnoseSeatbelt(
  code: number | null,
  stderr: string,
): { readonly reason: string; readonly remedy: string } | undefined {
  const said = /^sandbox-exec: (.+)$/m.exec(stderr)?.[1]
  if (said === undefined) return undefined
  if (code === applyRefused && triedToNest(stderr)) {
    return {
      reason: 'this process is already inside another Seatbelt sandbox, and macOS does not nest sandboxes',
      remedy:
        'Start this program from an ordinary terminal, or switch off the outer sandbox (for example, swift build --disable-sandbox), or use the docker backend.',
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
