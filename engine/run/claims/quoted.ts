import { truncateMiddle } from '../../core/text/truncate.ts'

/** The maximum number of characters to quote from a message or a command. */
export const longestQuote = 200

/** A command on one line, shortened in the middle. */
export function quoted(command: string): string {
  return truncateMiddle(command.replaceAll('\n', ' '), longestQuote).text
}
