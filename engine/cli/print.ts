import process from 'node:process'
import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { harmless, harmlessJson, harmlessLine } from '../core/text/harmless.ts'

// The only place where `agent` writes to its standard streams. Most of what it says contains text from elsewhere: names of files, commands and their output,
// what a model or a server answered. Each function here makes it harmless for terminals and for the runners of CI jobs, whatever its caller has checked.

/** Prints lines on standard output. Whatever a line contains, it remains one line. */
export function print(...lines: readonly string[]): void {
  process.stdout.write(inLines(lines))
}

/** Prints a text of several lines on standard output. */
export function printText(text: string): void {
  process.stdout.write(ended(harmless(text)))
}

/** Prints a value as JSON, in one line, on standard output. */
export function printJson(value: unknown): void {
  printJsonText(JSON.stringify(value))
}

/** Prints JSON, or several lines of it, on standard output. */
export function printJsonText(json: string): void {
  process.stdout.write(ended(harmlessJson(json)))
}

/**
 * Prints a result that a program may read: as it is, but made harmless on a terminal and in the log of a CI job.
 *
 * @param as `json`: what it says stays the same even then
 */
export function printResult(text: string, as: 'text' | 'json'): void {
  const clean = as === 'json' ? harmlessJson : harmless
  process.stdout.write(ended(isTerminal('stdout') || isInCi() ? clean(text) : text))
}

/** Prints lines on standard error. */
export function tell(...lines: readonly string[]): void {
  process.stderr.write(inLines(lines))
}

/** Prints a message on standard error. If it has several lines, all but the first are indented, so that none of them looks like another message. */
export function tellMessage(from: string, message: string): void {
  tell(
    ...`${from}: ${message}`.split(/\r?\n/).map((line, at) => (at === 0 || /^\s|^$/.test(line) ? line : `  ${line}`)),
  )
}

/** Prints a text of several lines on standard error. */
export function tellText(text: string): void {
  process.stderr.write(harmless(text))
}

/** A stream whose lines are printed on standard error, for another program's messages. */
export function telling(): Writable {
  const decoder = new StringDecoder()
  let rest = ''
  return new Writable({
    write: (chunk: Buffer, _, done) => {
      const lines = `${rest}${decoder.write(chunk)}`.split('\n')
      rest = lines.pop() ?? ''
      tell(...lines)
      done()
    },
    final: (done) => {
      if (rest !== '') tell(rest)
      done()
    },
  })
}

/** The standard streams themselves, for what must reach its reader byte for byte: what a command prints, a protocol, a patch, a view that is redrawn. */
export const rawOutput = {
  get stdout(): typeof process.stdout {
    return process.stdout
  },
  get stderr(): typeof process.stderr {
    return process.stderr
  },
}

/** Calls back when nobody reads standard output any more. */
export function onOutputClosed(listener: () => void): void {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') listener()
  })
}

/** Whether a person reads a stream at a terminal. */
export function isTerminal(stream: 'stdout' | 'stderr'): boolean {
  return process[stream].isTTY
}

/** The width of the terminal at standard output. Undefined: it is not a terminal. */
export function terminalWidth(): number | undefined {
  return process.stdout.columns
}

/** Whether a CI's runner may read what is printed. The last two services don't set `CI`. */
export function isInCi(): boolean {
  return ['CI', 'GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION'].some(
    (name) => !['', 'false', '0'].includes(process.env[name]?.toLowerCase() ?? ''),
  )
}

function inLines(lines: readonly string[]): string {
  return lines.map((line) => `${harmlessLine(line)}\n`).join('')
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
