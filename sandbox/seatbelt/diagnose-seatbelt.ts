/** Exit codes of sandbox-exec itself (sysexits(3)): a profile that it can't compile, and one that it may not apply. */
const [profileRefused, applyRefused] = [65, 71]

const refusedToNest = /\bsandbox_apply: Operation not permitted/

/**
 * Whether something tried to create a sandbox inside another, which macOS refuses. Once a sandbox of ours has worked, it must have been a command
 * inside it.
 */
export function triedToNest(stderr: string): boolean {
  return refusedToNest.test(stderr)
}

/**
 * Why sandbox-exec(1) didn't start a command, and what to do; undefined when the failure is the command's own. Its messages and the command's go to
 * the same stream, so both the wording and the exit code have to match.
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
