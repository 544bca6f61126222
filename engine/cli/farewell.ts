import process from 'node:process'
import { sessionLine } from '../display/session-line.ts'
import type { Sink } from '../core/events.ts'
import type { ExecOptions } from './exec-options.ts'

/**
 * Prepares the line to print if a second signal ends the process before the run has printed its summary. The line says how to resume the session.
 *
 * @returns `sink`, which must receive the run's events, because they contain the session's id; and `words`, which returns the line, or undefined if
 *   nothing should be printed
 */
export function farewell(
  options: ExecOptions,
  workspace: string,
): { readonly sink: Sink; readonly words: () => string | undefined } {
  let id: string | undefined
  return {
    sink: {
      event: (event) => {
        if (event.type === 'thread.started' && event.config.ephemeral !== true) id = event.thread_id
      },
    },
    words: () =>
      id === undefined || options.quiet === true ? undefined : `${sessionLine({ id, workspace }, process.cwd())}\n`,
  }
}
