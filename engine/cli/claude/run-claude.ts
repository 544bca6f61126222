import { randomUUID } from 'node:crypto'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { readLines } from '../../core/text/read-lines.ts'
import { exitCodes } from '../../core/exit-codes.ts'
import { UserError } from '../../core/user-error.ts'
import { ownProcess } from '../own-process.ts'
import { onOutputClosed, printJson, tellMessage } from '../print.ts'
import { schemaOf } from '../read-output-schema.ts'
import { readPrompt } from '../read-prompt.ts'
import { answerControl } from './answer-control.ts'
import type { ClaudeOptions } from './claude-options.ts'
import { ClaudeSession } from './claude-session.ts'
import { Client, readIncoming } from './client.ts'
import { promptsIn } from './given-json.ts'
import { effortOf, SessionState } from './session-state.ts'

/** The longest line that a client may write, in bytes: several pictures fit in. */
const longestLine = 64 * 1024 * 1024

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

async function start(prompt: string | undefined, given: ClaudeOptions): Promise<number> {
  const { print, outputFormat, inputFormat, verbose, jsonSchema, maxThinkingTokens: tokens } = given
  const isServing = inputFormat === 'stream-json'
  const wrong =
    print !== true && !isServing
      ? 'There is no interactive mode here: give --print, or --input-format stream-json.'
      : outputFormat === 'stream-json' && verbose !== true
        ? '--output-format stream-json needs --verbose.'
        : isServing && outputFormat !== 'stream-json'
          ? '--input-format stream-json needs --output-format stream-json.'
          : undefined
  if (wrong !== undefined) throw new UserError('usage', wrong)
  const schema = jsonSchema === undefined ? undefined : await schemaOf(parsed(jsonSchema), '--json-schema')
  const state = new SessionState(
    { ...(tokens === undefined ? {} : { effort: effortOf(tokens) }), ...promptsIn(given) },
    schema,
  )
  if (isServing) return serve(state, process.stdin)
  const session = new ClaudeSession(state, ownProcess())
  return session.turn({ type: 'prompt', prompt: () => readPrompt(prompt, process.stdin) })
}

function parsed(schema: string): unknown {
  try {
    return JSON.parse(schema)
  } catch (error) {
    throw new UserError('usage', `--json-schema: not JSON: ${(error as Error).message}`, { cause: error })
  }
}

type Task = Parameters<ClaudeSession['turn']>[0]
type UserMessage = Extract<NonNullable<ReturnType<typeof readIncoming>>, { type: 'user' }>

/** What a user's message says and shows. */
function taskOf(content: UserMessage['message']['content']): Task {
  if (typeof content === 'string') return { type: 'prompt', prompt: content }
  const texts = content.flatMap(({ text }) => (text === undefined ? [] : [text]))
  const sources = content.flatMap(({ type, source }) => (type === 'image' && source !== undefined ? [source] : []))
  const images = sources.flatMap(({ media_type: mediaType, data }) =>
    mediaType === undefined || data === undefined ? [] : [{ mediaType, data }],
  )
  return { type: 'prompt', prompt: texts.join('\n'), images }
}

/** Does what a client asks for, until its input ends. What it has asked for by then is still done. */
async function serve(state: SessionState, input: Readable): Promise<number> {
  const client = new Client()
  const session = new ClaudeSession(state, client)
  let [turns, code, isLost] = [Promise.resolve(), exitCodes.done as number, false]
  const turn = async (message: UserMessage): Promise<void> => {
    if (!isLost && state.options.replayUserMessages === true)
      printJson({ uuid: randomUUID(), ...message, session_id: state.threadId ?? '', isReplay: true })
    if (!isLost) code = await session.turn(taskOf(message.message.content))
    // A signal ended the session, so nothing that the client sends matters any more.
    if (session.stopped !== undefined) input.destroy()
  }
  onOutputClosed(() => {
    isLost = true
    session.interrupt('terminated')
    input.destroy()
  })
  try {
    for await (const line of readLines(input, longestLine, 'Standard input')) {
      const message = readIncoming(line)
      if (message?.type === 'control_response') client.answered(message.response)
      if (message?.type === 'control_request') {
        const answered = client.answer(message.request_id, () => answerControl(message.request, session, client))
        // What the client asks for after it has begun counts on what it has said to begin.
        if (message.request.subtype === 'initialize') turns = Promise.all([turns, answered]).then(() => undefined)
      }
      if (message?.type !== 'user') continue
      turns = turns.then(() => turn(message))
      // What goes wrong in a turn is thrown when the input has ended, and ends it.
      turns.catch(() => input.destroy())
    }
  } catch (error) {
    // An input that was closed because of a signal or a lost client is no error of the client's.
    if (error instanceof UserError || !input.destroyed) {
      client.leave('the client broke the protocol')
      isLost = true
      session.interrupt('terminated')
      await turns
      throw error
    }
  }
  client.leave('the client has closed its output')
  await turns
  return code
}
