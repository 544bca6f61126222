import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

/**
 * Passes on the head of an answer. If it contains what Node reads but doesn't write (a control character, a status below 100), both connections are closed.
 *
 * @returns whether it was passed on
 */
export function passHead(
  answer: IncomingMessage,
  response: ServerResponse,
  message: string | undefined,
  headers: OutgoingHttpHeaders,
): boolean {
  try {
    response.writeHead(answer.statusCode ?? 502, message, headers)
    return true
  } catch {
    response.destroy()
    answer.destroy()
    return false
  }
}
