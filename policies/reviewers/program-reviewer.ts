import { randomUUID } from 'node:crypto'
import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import * as z from 'zod'
import type { Reviewer } from '../reviewer.ts'
import { hasRepeatedField } from './repeated-field.ts'
import { suggestedBy } from './rule-proposal.ts'
import { waitWithin } from './deadline.ts'

/** Sends one request and returns the answer to it, both as JSON text. Rejects if the program can't be reached. */
export type Exchange = (request: { readonly id: string; readonly json: string }, signal: AbortSignal) => Promise<string>

/** Creates the schema of an answer. Most runs ask no program, so this is called only when the schema is first needed. */
const makeShape = () =>
  z.strictObject({
    id: z.string(),
    outcome: z.enum(['allow', 'deny', 'abort']),
    reason: z.string().min(1),
    scope: z.enum(['once', 'run']).optional(),
  })

let shape: ReturnType<typeof makeShape> | undefined

const outcomes = { allow: 'allowed', deny: 'denied', abort: 'aborted' } as const

/** How a program is reached, and how long it may take. */
export type ProgramOptions = {
  readonly exchange: Exchange
  /** How long an answer may take, in milliseconds. Default: two minutes. */
  readonly timeoutMs?: number
}

/**
 * Creates a reviewer that asks another program, such as a CI system or an approval bot in a chat. The program is sent `{id, action, mode, asksFor,
 * reason, rule, class, diff, suggestedRule}` and answers `{id, outcome: "allow" | "deny" | "abort", reason}`. With `scope: "run"`, an approval and
 * the suggested rule apply for the rest of the run. Any other output, or an answer with a different id, doesn't count as an answer.
 *
 * @example const reviewer = createProgramReviewer({ exchange: httpExchange('http://127.0.0.1:8080/approve'), timeoutMs: 5000 })
 */
export function createProgramReviewer({ exchange, timeoutMs = 120_000 }: ProgramOptions): Reviewer {
  return {
    name: 'program',
    review: async ({ action, mode, asksFor, reason, rule, analysis, diff }, { signal }) => {
      const id = randomUUID()
      const suggestedRule = suggestedBy(action)
      const json = JSON.stringify({
        id,
        action,
        mode,
        asksFor,
        reason,
        rule,
        class: analysis?.class,
        diff,
        suggestedRule,
      })
      const waited = await waitWithin(timeoutMs, signal, (stop) => exchange({ id, json }, stop))
      if (waited.status === 'timed-out')
        return { outcome: 'timed-out', reason: `No answer within ${timeoutMs / 1000} s.` }
      if (waited.status === 'interrupted') return { outcome: 'unavailable', reason: 'The run was interrupted.' }
      const answer = (shape ??= makeShape()).safeParse(parseJson(waited.value))
      if (!answer.success) return { outcome: 'malformed', reason: 'It is not {"id", "outcome", "reason"} in JSON.' }
      if (hasRepeatedField(waited.value)) return { outcome: 'malformed', reason: 'It contains a field twice.' }
      if (answer.data.id !== id) return { outcome: 'malformed', reason: 'It answers another question.' }
      const outcome = outcomes[answer.data.outcome]
      if (outcome !== 'allowed' || answer.data.scope !== 'run') return { outcome, reason: answer.data.reason }
      const accepted = suggestedRule === undefined ? {} : { rule: suggestedRule }
      return { outcome, reason: answer.data.reason, scope: 'run', ...accepted }
    },
  }
}

/**
 * Creates an `Exchange` that sends and receives JSON lines over a pair of streams, such as file descriptors or the pipes of a child process. Answers
 * are matched by id. An answer without a known id is accepted if exactly one question is open.
 *
 * @example const exchange = lineExchange(process.stdin, process.stdout)
 */
export function lineExchange(input: Readable, output: Writable): Exchange {
  const waiting = new Map<
    string,
    { readonly resolve: (line: string) => void; readonly reject: (error: Error) => void }
  >()
  let closed: Error | undefined
  const fail = (error: Error): void => {
    closed = error
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  // The module is loaded here, because most runs ask no program.
  const lines = process.getBuiltinModule('node:readline').createInterface({ input, crlfDelay: Infinity })
  lines.on('line', (line) => {
    const value = parseJson(line)
    const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined
    // A line without a known id is taken as an answer only if exactly one question is open.
    const key = typeof id === 'string' && waiting.has(id) ? id : waiting.size === 1 ? [...waiting.keys()][0] : undefined
    if (key === undefined) return
    waiting.get(key)?.resolve(line)
    waiting.delete(key)
  })
  lines.on('close', () => fail(new Error('the program closed its output')))
  input.on('error', fail)
  output.on('error', fail)
  return ({ id, json }, signal) =>
    new Promise((resolve, reject) => {
      if (closed !== undefined) return reject(closed)
      waiting.set(id, { resolve, reject })
      signal.addEventListener('abort', () => waiting.delete(id), { once: true })
      output.write(`${json}\n`)
    })
}

/**
 * Creates an `Exchange` that posts each request to a URL and uses the body of a 200 response as the answer. Redirects are refused.
 *
 * @example const exchange = httpExchange('http://127.0.0.1:8080/approve', { authorization: 'Bearer key' })
 */
export function httpExchange(url: string, headers: Readonly<Record<string, string>> = {}): Exchange {
  return async ({ json }, signal) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: json,
      redirect: 'error',
      signal,
    })
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
    return response.text()
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Text that isn't JSON contains no id, and the reviewer reports it as malformed.
    return undefined
  }
}
