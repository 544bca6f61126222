import { harmless } from '../core/text/harmless.ts'
import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import type { HumanOptions } from '../../policies/index.ts'
import { promptFor, readAnswer, renderQuestion, type RuleFiles } from './render-question.ts'

/** A terminal with a person at it. */
type Terminal = { readonly input: Readable; readonly output: Writable }

/** A question for the person at a terminal. */
export type TerminalQuestion<Answer> = {
  /** The question's text, with the prompt for the answer. */
  readonly text: string
  /** The prompt for the answer. It is shown again after a line that is not a valid answer. */
  readonly prompt: string
  /** Parses a line as an answer; undefined if the line is not a valid answer. */
  readonly read: (line: string) => Answer | undefined
}

/**
 * Asks the person at a terminal until a line is a valid answer. Resolves to undefined at the end of input. Rejects when the signal is
 * aborted.
 */
export type AskPerson = <Answer>(
  question: TerminalQuestion<Answer>,
  signal: AbortSignal | undefined,
) => Promise<Answer | undefined>

/**
 * Opens a terminal for questions. They are asked one at a time, in the order in which they arrive, so that an answer to one question is never
 * mistaken for an answer to another.
 */
export function openTerminal({ input, output }: Terminal): AskPerson {
  let reader: LineReader | undefined
  let last: Promise<unknown> = Promise.resolve()
  const ask: AskPerson = async ({ text, prompt, read }, signal) => {
    signal?.throwIfAborted()
    reader ??= readLines(input)
    output.write(harmless(text))
    for (;;) {
      const line = await reader(signal)
      if (line === undefined) return undefined
      const answer = read(line)
      if (answer !== undefined) return answer
      output.write(harmless(prompt))
    }
  }
  return (question, signal) => {
    const turn = last.then(() => ask(question, signal))
    last = turn.catch(() => undefined)
    return turn
  }
}

/**
 * Asks the person to approve an action. The end of input counts as a no.
 *
 * @param ruleFiles the files to which accepted rules are added; a question that offers to add a rule names the file
 */
export function askAtTerminal(ask: AskPerson, ruleFiles: RuleFiles): HumanOptions['ask'] {
  return async (question, { signal }) => {
    const { choices } = question
    const asked = {
      text: renderQuestion(question, ruleFiles),
      prompt: promptFor(choices),
      read: (line: string) => readAnswer(line, choices),
    }
    return (await ask(asked, signal)) ?? { choice: 'no' }
  }
}

/** Reads the next line, or undefined at the end of input. Rejects when the signal is aborted. */
type LineReader = (signal: AbortSignal | undefined) => Promise<string | undefined>

/** Reads lines only on request. Lines that arrive together are returned one by one. */
function readLines(input: Readable): LineReader {
  // Without raw mode, the terminal itself echoes the input, lets the person edit the line, and turns Ctrl-C into the signal that stops the run.
  // `readline` is loaded only here, because most runs ask nobody.
  const lines = process.getBuiltinModule('node:readline').createInterface({ input, terminal: false })
  const ready: string[] = []
  let ended = false
  let wake = (): void => undefined
  lines.on('line', (line) => {
    ready.push(line)
    wake()
  })
  lines.on('close', () => {
    ended = true
    wake()
  })
  return async (signal) => {
    if (!ended) lines.resume()
    while (ready.length === 0 && !ended && signal?.aborted !== true) {
      const { promise, resolve } = Promise.withResolvers<void>()
      wake = resolve
      signal?.addEventListener('abort', wake, { once: true })
      await promise
      signal?.removeEventListener('abort', wake)
    }
    if (!ended) lines.pause()
    signal?.throwIfAborted()
    return ready.shift()
  }
}
