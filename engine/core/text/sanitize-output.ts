/**
 * Turns a program's output into harmless text: invalid UTF-8 becomes U+FFFD, terminal escapes are removed, a carriage return without a line feed
 * becomes a line feed, and other control characters except tabs become U+FFFD. This is done once, before the output reaches a model, an event or a
 * terminal.
 */
export function sanitizeOutput(bytes: Uint8Array): string {
  return sanitizeText(new TextDecoder().decode(bytes))
}

/** Does the same for text that has been decoded. */
export function sanitizeText(text: string): string {
  return (
    text
      // Removes ECMA-48 control sequences, then operating system commands, then the other escape sequences.
      .replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, '')
      .replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '')
      .replace(/\u001b[ -/]*[0-~]/g, '')
      .replace(/\r+\n?/g, (run) => (run.endsWith('\n') ? '\n' : '\n'.repeat(run.length)))
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '\ufffd')
  )
}
