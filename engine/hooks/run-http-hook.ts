import { timeoutSignal } from '../../sandbox/index.ts'
import type { HandlerResult } from './handler-result.ts'
import { connectTrusting } from '../core/certificates.ts'
import { readHookOutput } from './output.ts'
import type { Handler } from './hooks-schema.ts'

/** The maximum length of a response, in characters. Valid answers are far shorter. */
const answerLimit = 1024 * 1024

/**
 * Posts the event to a URL. The body of a 2xx response is the hook's answer; an empty body means no answer. A response with another status, an
 * invalid or too long answer, and no response in time are failures. Redirects are not followed, so only the configured URL is contacted.
 *
 * @param env the values for `$NAME` and `${NAME}` in headers; names that the handler doesn't allow are replaced by an empty string
 */
export async function runHttpHook(
  handler: Extract<Handler, { type: 'http' }>,
  input: string,
  options: { readonly env: Readonly<NodeJS.ProcessEnv>; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<HandlerResult> {
  const inTime = timeoutSignal(options.timeoutMs)
  try {
    const response = await connectTrusting(new URL(handler.url), options.env, () =>
      fetch(handler.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers(handler, options.env) },
        body: input,
        redirect: 'error',
        signal: AbortSignal.any([inTime, options.signal]),
      }),
    )
    const text = await response.text()
    if (!response.ok) return { status: 'failed', reason: `${handler.url} answered with status ${response.status}` }
    if (text.length > answerLimit)
      return {
        status: 'failed',
        reason: `${handler.url} answered with ${text.length} characters, more than the limit of ${answerLimit}`,
      }
    const said = readHookOutput(text)
    return 'problem' in said ? { status: 'failed', reason: said.problem } : { status: 'answered', ...said }
  } catch (error) {
    if (inTime.aborted)
      return { status: 'failed', reason: `${handler.url} took longer than ${options.timeoutMs / 1000} s` }
    const { message, cause } = error as Error
    // What went wrong is the cause of what `fetch` throws.
    const why = error instanceof TypeError && cause instanceof Error ? cause.message : message
    return { status: 'failed', reason: `${handler.url}: ${why}` }
  }
}

function headers(
  { headers: given = {}, allowedEnvVars = [] }: Extract<Handler, { type: 'http' }>,
  env: Readonly<NodeJS.ProcessEnv>,
): Readonly<Record<string, string>> {
  const fill = (text: string): string =>
    text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, bare?: string) => {
      const name = braced ?? bare ?? ''
      return allowedEnvVars.includes(name) ? (env[name] ?? '') : ''
    })
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, fill(value)]))
}
