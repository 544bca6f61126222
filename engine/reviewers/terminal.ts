import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { HumanOptions } from '../../policies/index.ts'
import { promptFor, readAnswer, renderQuestion, type RuleFiles } from './question.ts'

/** A terminal with a person at it. */
type Terminal = { readonly input: Readable; readonly output: Writable }

/**
 * Asks the person at a terminal and waits for a line that is an answer; anything else is asked again. The end of input
 * is a no. Rejects when the run is stopped meanwhile.
 *
 * @param ruleFiles where a rule would be written, for the question
 */
export function askAtTerminal({ input, output }: Terminal, ruleFiles: RuleFiles): HumanOptions['ask'] {
  let reader: LineReader | undefined
  return async (question, { signal }) => {
    reader ??= readLines(input)
    output.write(renderQuestion(question, ruleFiles))
    for (;;) {
      const line = await reader(signal)
      if (line === undefined) return { choice: 'no' }
      const answer = readAnswer(line, question.choices)
      if (answer !== undefined) return answer
      output.write(promptFor(question.choices))
    }
  }
}

/** The next line, or undefined at the end of input. Rejects when the signal is aborted. */
type LineReader = (signal: AbortSignal | undefined) => Promise<string | undefined>

/** Reads lines, and only while somebody waits for one; lines that came together are given one by one. */
function readLines(input: Readable): LineReader {
  // Not in raw mode: the terminal itself echoes, edits, and turns Ctrl-C into the signal that stops the run.
  const lines: Interface = createInterface({ input, terminal: false })
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
