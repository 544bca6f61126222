import { truncateMiddle } from '../../core/text/truncate.ts'

/** The longest part of a message or of a command that is quoted. */
export const longestQuote = 200

/** A command on one line, shortened in the middle. */
export function quoted(command: string): string {
  return truncateMiddle(command.replaceAll('\n', ' '), longestQuote).text
}
