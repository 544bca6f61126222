/** Exit codes of sandbox-exec itself (sysexits(3)): a profile that it can't compile, and one that it may not apply. */
const [profileRefused, applyRefused] = [65, 71]

const refusedToNest = /\bsandbox_apply: Operation not permitted/

/**
 * Whether something tried to make a sandbox inside another, which macOS refuses: inside ours, once one of ours has been seen to work, it
 * was a command that tried.
 */
export function triedToNest(stderr: string): boolean {
  return refusedToNest.test(stderr)
}

/**
 * Why sandbox-exec(1) didn't start a command, and what to do; undefined when the failure is the command's own. What it says goes to the
 * same stream as the command's words, so both its wording and its exit code have to fit.
 */
export function diagnoseSeatbelt(
  code: number | null,
  stderr: string,
): { readonly reason: string; readonly remedy: string } | undefined {
  const said = /^sandbox-exec: (.+)$/m.exec(stderr)?.[1]
  if (said === undefined) return undefined
  if (code === applyRefused && triedToNest(stderr)) {
    return {
      reason: 'this process is inside another Seatbelt sandbox already, and macOS does not nest them',
      remedy:
        'Run it from an ordinary terminal, or leave out the outer sandbox (swift build --disable-sandbox, for one), or use the docker backend.',
    }
  }
  if (code === profileRefused || code === applyRefused) {
    return {
      reason: `this macOS does not take the profile (${said})`,
      remedy: 'Use the docker backend, and report this with the version of macOS.',
    }
  }
  return undefined
}
