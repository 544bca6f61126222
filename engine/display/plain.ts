import type { RunEvent, Sink } from '../core/events.ts'
import { sanitizeForTerminal } from './sanitize-for-terminal.ts'
import { watchLongRunning } from './still-running.ts'
import { asText, createFormatter, type FormatterOptions } from './formatter.ts'
import { oneLine } from '../core/text/one-line.ts'

/**
 * Creates a sink that writes plain lines as things happen, for logs, pipes and CI. Unless `detail` is `quiet`, it also writes a line when a command
 * starts, and from time to time while a command or another tool call runs, because a run with a silent log seems to hang.
 */
export function plainSink(write: (text: string) => void, options: FormatterOptions): Sink {
  const formatter = createFormatter(options)
  const print = (lines: readonly string[]): void => {
    if (lines.length > 0) write(asText(lines))
  }
  const dim = (line: string): string => formatter.paint('dim', line)
  const running = options.detail === 'quiet' ? undefined : watchLongRunning((lines) => print(lines.map(dim)))
  return {
    event: (event) => {
      if (options.detail !== 'quiet') print(startOf(event).map(dim))
      print(formatter.event(event))
      running?.event(event)
    },
    tail: (id, read) => running?.tail(id, read),
    end: (summary) => {
      running?.end()
      print(formatter.summary(summary))
    },
  }
}

function startOf(event: RunEvent): readonly string[] {
  if (event.type !== 'item.started') return []
  const { item } = event
  if (item.type === 'verification') return [`$ verify: ${sanitizeForTerminal(oneLine(item.command))}`]
  return item.type === 'command_execution' ? [`$ ${sanitizeForTerminal(oneLine(item.command))}`] : []
}
