/** What the line looks like that says why a program failed, the surest first: an error with its message, an assertion or TAP's reason, a failed test. */
const kinds: readonly (readonly RegExp[])[] = [
  [/^\s*(?:E +)?[\w.]*(?:Error|Exception)(?: \[\w+\])?: \S/],
  [/\bassert(?:ion)?\b/i, /^ +error: /],
  [/\bpanicked at\b/, /^\s*not ok\b/, /\berror(?:\[\w+\])?: /, /\berror TS\d/, /^\s*(?:--- )?FAIL/],
]

/** How many characters of a line are looked at. No message needs more to begin. */
const looked = 400

/**
 * Returns the index of the line of a failed program's output that probably says why it failed. The end of an output often doesn't: it lists the parts of an error, or
 * the version of the program. Undefined: no line looks like that.
 */
export function tellingLine(lines: readonly string[]): number | undefined {
  for (const kind of kinds) {
    const at = lines.findIndex((line) => kind.some((form) => form.test(line.slice(0, looked))))
    // TAP puts a text of several lines below its key.
    if (at !== -1) return /\berror: \|-?$/.test(lines[at] ?? '') ? at + 1 : at
  }
  return undefined
}
