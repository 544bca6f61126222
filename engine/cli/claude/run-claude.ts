import process from 'node:process'
import type { Readable } from 'node:stream'
import { exitCodes } from '../../core/exit-codes.ts'
import { UserError } from '../../core/user-error.ts'
import { ownProcess } from '../own-process.ts'
import { onOutputClosed, printJson, tellMessage } from '../print.ts'
import { schemaOf } from '../read-output-schema.ts'
import { readPrompt } from '../read-prompt.ts'
import { answerControl } from './answer-control.ts'
import type { ClaudeOptions } from './claude-options.ts'
import { ClaudeSession } from './claude-session.ts'
import { Client } from './client.ts'
import { readIncoming, taskOf } from './incoming.ts'
import { readLines } from './read-lines.ts'
import { stateOf } from './session-state.ts'

/** `agent claude`: one turn, or those that a client asks for. Returns the exit code: 0 for success, 1 otherwise, or that of a signal. */
export async function runClaude(prompt: string | undefined, options: ClaudeOptions): Promise<number> {
  try {
    return await start(prompt, options)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    tellMessage('agent', error.message)
    return exitCodes.failed
  }
}

async function start(prompt: string | undefined, options: ClaudeOptions): Promise<number> {
  const { print, outputFormat, inputFormat, verbose, jsonSchema } = options
  const isServing = inputFormat === 'stream-json'
  if (print !== true && !isServing)
    throw new UserError('usage', 'There is no interactive mode here: give --print, or --input-format stream-json.')
  if (outputFormat === 'stream-json' && verbose !== true)
    throw new UserError('usage', '--output-format stream-json needs --verbose.')
  if (isServing && outputFormat !== 'stream-json')
    throw new UserError('usage', '--input-format stream-json needs --output-format stream-json.')
  const schema = jsonSchema === undefined ? undefined : await schemaOf(parsed(jsonSchema), '--json-schema')
  const state = stateOf(options, schema)
  if (!isServing) {
    const session = new ClaudeSession(state, options, undefined, ownProcess())
    return session.turn({ type: 'prompt', prompt: () => readPrompt(prompt, process.stdin) })
  }
  const client = new Client(printJson)
  return serve(new ClaudeSession(state, options, client, undefined), client, options, process.stdin)
}

function parsed(schema: string): unknown {
  try {
    return JSON.parse(schema)
  } catch (error) {
    throw new UserError('usage', `--json-schema: not JSON: ${(error as Error).message}`, { cause: error })
  }
}

/** Does what a client asks for, until its input ends. What it has asked for by then is still done. */
async function serve(session: ClaudeSession, client: Client, options: ClaudeOptions, input: Readable): Promise<number> {
  let [turns, code, isLost] = [Promise.resolve(), exitCodes.done as number, false]
  const turn = async (task: ReturnType<typeof taskOf>): Promise<void> => {
    code = await session.turn({ type: 'prompt', ...task })
    // A signal ended the session, so nothing that the client sends matters any more.
    if (session.stopped !== undefined) input.destroy()
  }
  onOutputClosed(() => {
    isLost = true
    session.interrupt('terminated')
    input.destroy()
  })
  try {
    for await (const line of readLines(input)) {
      const message = readIncoming(line)
      switch (message?.type) {
        case 'user':
          turns = turns.then(() => (isLost ? undefined : turn(taskOf(message))))
          // What goes wrong in a turn is thrown when the input has ended, and ends it.
          turns.catch(() => input.destroy())
          break
        case 'control_request':
          void client.answer(message.request_id, () => answerControl(message.request, session, client, options))
          break
        case 'control_response': {
          const { response } = message
          const answer = response.subtype === 'error' ? { error: response.error } : { response: response.response }
          client.answered(response.request_id, answer)
          break
        }
        case undefined:
          break
        default:
          message satisfies never
      }
    }
  } catch (error) {
    // An input that was closed because of a signal or a lost client is no error of the client's.
    if (!input.destroyed || error instanceof UserError) {
      client.leave('the client broke the protocol')
      session.interrupt('terminated')
      await turns
      throw error
    }
  }
  client.leave('the client has closed its output')
  await turns
  return code
}
