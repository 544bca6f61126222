import process from 'node:process'
import type { Readable } from 'node:stream'
import { UserError } from '../user-error.ts'

/** How long an open but silent standard input may delay a run that has a prompt already. */
const silenceMs = 1000
/** How long a run without a prompt waits for the first byte of one, unless it has a time limit that is shorter. */
const patienceMs = 300_000
/** No prompt is longer: the limit Codex has. */
const maxCharacters = 1_048_576
/** No prompt of that length has more in UTF-8. */
const maxBytes = maxCharacters * 3

/**
 * The prompt of a run: the argument, or standard input for `-` or no argument. Text piped in beside an argument is
 * added as a `<stdin>` block.
 *
 * @param timeout seconds that the whole run may take; undefined: as long as it wants
 * @throws UserError `usage` when there is no prompt, when it is not UTF-8, or when it is too long
 */
export async function readPrompt(
  argument: string | undefined,
  stdin: Readable & { isTTY?: boolean },
  timeout?: number,
): Promise<string> {
  const fromInput = argument === undefined || argument === '-'
  const prompt = fromInput ? await fromStdin(stdin, timeout) : await withPipedText(argument, stdin)
  if (prompt.trim() === '') {
    throw new UserError(
      'usage',
      'No prompt. Give one as an argument (agent exec "…"), or on standard input (agent exec - < task.md).',
    )
  }
  if (prompt.length > maxCharacters) throw tooLong(`${prompt.length}`)
  return prompt
}

function tooLong(characters: string): UserError {
  return new UserError('usage', `The prompt has ${characters} characters; at most ${maxCharacters} fit.`)
}

async function fromStdin(stdin: Readable & { isTTY?: boolean }, timeout = Infinity): Promise<string> {
  // A person at a terminal who types no prompt is told so instead of being left in front of a silent program.
  if (stdin.isTTY === true) return ''
  const wait = Math.min(patienceMs, timeout * 1000)
  const notice = setTimeout(() => {
    process.stderr.write(`agent: waiting for the prompt on standard input, for ${wait / 1000} seconds at most\n`)
  }, silenceMs)
  const reading = readAll(stdin, wait)
  stdin.once('data', () => clearTimeout(notice))
  try {
    return decode(await reading)
  } finally {
    clearTimeout(notice)
  }
}

async function withPipedText(prompt: string, stdin: Readable & { isTTY?: boolean }): Promise<string> {
  if (stdin.isTTY === true || prompt.trim() === '') return prompt
  const piped = decode(await readAll(stdin, silenceMs))
  return piped.trim() === '' ? prompt : `${prompt}\n\n<stdin>\n${piped}${piped.endsWith('\n') ? '' : '\n'}</stdin>`
}

/** Reads a stream to its end, or gives up when its first byte does not come within `firstByteMs`. */
async function readAll(stdin: Readable, firstByteMs: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const silence = setTimeout(() => resolve(), firstByteMs)
  let length = 0
  stdin.on('data', (chunk: Buffer) => {
    clearTimeout(silence)
    chunks.push(chunk)
    length += chunk.length
    // What is too long already is refused without its end, which may never come.
    if (length > maxBytes) {
      stdin.destroy()
      resolve()
    }
  })
  stdin.once('end', () => resolve())
  // A closed standard input (`<&-`) reports an error instead of an end; either way nothing more comes.
  stdin.once('error', () => resolve())
  await promise
  clearTimeout(silence)
  stdin.pause()
  stdin.destroy()
  if (length > maxBytes) throw tooLong(`more than ${maxCharacters}`)
  return Buffer.concat(chunks)
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    const offset = firstInvalid(bytes)
    const hint = 'Convert it first, e.g. iconv -f latin1 -t utf-8.'
    throw new UserError('usage', `The prompt on standard input is not UTF-8: byte ${offset} is invalid. ${hint}`, {
      cause: error,
    })
  }
}

/** Index of the first byte that no UTF-8 text has there: where decoding and encoding again no longer agree. */
function firstInvalid(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'))
  let at = 0
  while (at < bytes.length && bytes[at] === again[at]) at++
  return at
}
