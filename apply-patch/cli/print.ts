import process from 'node:process'
import type { OtherRun } from '../files/index.ts'
import { harmless, harmlessJson, harmlessLine } from '../text/harmless.ts'
import { write } from './input.ts'

// All that the program says goes through these functions: it contains names and lines from patches and trees that others made.

/** Prints a text of several lines on standard output. */
export function print(text: string): void {
  write(1, harmless(text))
}

/** Prints a value as JSON on standard output. */
export function printJson(value: unknown): void {
  write(1, `${harmlessJson(JSON.stringify(value, null, 2))}\n`)
}

/**
 * Prints a diff on standard output, as it is, because another program may read it. On a terminal and in the log of a CI job, it is made harmless instead, and
 * standard error says so.
 */
export function printDiff(diff: string): void {
  const isShown = process.getBuiltinModule('node:tty').isatty(1) || isInCi()
  const shown = isShown ? harmless(diff) : diff
  write(1, shown)
  if (shown !== diff)
    tell(
      'warning: the diff contains control characters or commands for a CI; they are changed here, and --json has them as they are',
    )
}

/** Prints lines on standard error. Whatever a line contains, it remains one line. */
export function tell(...lines: readonly string[]): void {
  write(2, lines.map((line) => `${harmlessLine(line)}\n`).join(''))
}

/** Says that the program is waiting for another run. */
export function waits({ root, process: id }: OtherRun): void {
  const who = id === undefined ? 'another run' : `another run (process ${id})`
  tell(`apply-patch: waiting for ${who}, which is changing ${root}`)
}

/** Prints a text of several lines on standard error. */
export function tellText(text: string): void {
  write(2, harmless(text))
}

/** Whether a CI's runner may read what is printed. The last two services don't set `CI`. */
function isInCi(): boolean {
  return ['CI', 'GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION'].some(
    (name) => !['', 'false', '0'].includes(process.env[name]?.toLowerCase() ?? ''),
  )
}
