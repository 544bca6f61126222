import { truncateMiddle } from '../../core/text/truncate.ts'

/** The maximum number of characters to quote from a message or a command. */
export const longestQuote = 200

/** Renders a command on one line. If it is long, its middle is cut out. */
export function quoted(command: string): string {
  return truncateMiddle(command.replaceAll('\n', ' '), longestQuote).text
}

/** The script of a command, without the shell that runs it. */
export function scriptOf(command: string): string {
  return command.replace(/^\S*bash -lc /, '')
}

/** Returns the quotations in backticks in a text, such as commands. */
export function quotesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]{3,200})`/g)].map(([, quote = '']) => quote)
}
