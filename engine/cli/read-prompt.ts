import type { Readable } from 'node:stream'
import { setLongTimeout } from '../../sandbox/index.ts'
import { joinPiped } from '../run/piped-input.ts'
import { counted } from '../core/text/counted.ts'
import { UserError } from '../core/user-error.ts'
import { tell } from './print.ts'

/** How long a run waits silently before it reports what it is waiting for, in milliseconds. */
const noticeMs = 3000
/** How long a run waits for the first byte of its input, in milliseconds. The command line can change this. */
const firstByteMs = 10_000
/** How long a run waits for the end of its input, in milliseconds. Commands whose output is piped into a run rarely take longer. */
const endMs = 3_600_000
/** The maximum length of a prompt, as in Codex. */
const maxCharacters = 1_048_576
/** The maximum number of UTF-8 bytes that a prompt of `maxCharacters` characters can have. */
const maxBytes = maxCharacters * 3

/** The command line's options for standard input. */
type InputOptions = {
  /** Whether standard input is read. False with `--no-stdin`. Default: true. */
  readonly stdin?: boolean | undefined
  /** `--stdin-timeout`: seconds to wait for the first byte. Default: 10. */
  readonly stdinTimeout?: number | undefined
  /** `--timeout`: seconds that the whole run may take, including the wait for its prompt. Default: no limit. */
  readonly timeout?: number | undefined
  /** Receives sentences that say what the run is waiting for, or what it continues without. Default: standard error. */
  readonly note?: (sentence: string) => void
}

type Input = Readable & { isTTY?: boolean }

/**
 * Reads the prompt of a run: the argument, or standard input if the argument is `-` or missing. If there is both a prompt as an argument and piped
 * input, the input is added as a `<stdin>` block. Once the first byte has arrived, the run waits for the end of standard input. If not even the first
 * byte arrives in time, a run whose prompt is the argument continues without the input and reports this, because programs are often started with an
 * input to which nobody ever writes.
 *
 * @throws UserError `usage` if there is no prompt, if it is not UTF-8 or too long, or if input that has begun doesn't end in time
 */
export async function readPrompt(
  argument: string | undefined,
  stdin: Input,
  options: InputOptions = {},
): Promise<string> {
  const prompt = argument === undefined || argument === '-' ? undefined : argument
  if (prompt?.trim() === '') throw noPrompt()
  const piped = await readPiped(stdin, prompt !== undefined, options)
  if (prompt === undefined && piped.trim() === '') {
    const wasRead = options.stdin !== false && stdin.isTTY !== true
    // Clients of Codex recognize this failure by these words.
    throw noPrompt(wasRead ? 'No prompt provided via stdin.' : undefined)
  }
  const whole = prompt === undefined || piped.trim() === '' ? (prompt ?? piped) : joinPiped({ words: prompt, piped })
  if (whole.length > maxCharacters) throw tooLong(`${whole.length}`)
  return whole
}

function noPrompt(why = 'No prompt.'): UserError {
  return new UserError(
    'usage',
    `${why} Give one as an argument (agent exec "…"), or on standard input (agent exec - < task.md).`,
  )
}

function tooLong(characters: string): UserError {
  return new UserError('usage', `The prompt has ${characters} characters; the limit is ${maxCharacters}.`)
}

/**
 * Reads all of standard input as text. The result is empty if standard input is a terminal, if nothing arrives, or if it must not be read.
 *
 * @param hasPrompt whether the run can continue without the input
 * @throws UserError `usage` if the input is not UTF-8 or too long, if it doesn't end in time, or if nothing arrives in time and `hasPrompt` is false
 */
export async function readPiped(stdin: Input, hasPrompt: boolean, options: InputOptions): Promise<string> {
  // Standard input isn't read if it is a terminal: if the person there gave no prompt, the program reports that instead of waiting silently.
  if (options.stdin === false || stdin.isTTY === true) return ''
  const { note = (sentence) => void tell(`agent: ${sentence}`), timeout = Infinity } = options
  const patience = Math.min(
    options.stdinTimeout === undefined ? firstByteMs : options.stdinTimeout * 1000,
    timeout * 1000,
  )
  const longest = Math.min(endMs, timeout * 1000)
  const what = hasPrompt ? 'the end of standard input' : 'the prompt on standard input'
  const limit = `for at most ${counted(patience / 1000, 'second')} if nothing arrives`
  const { bytes, end } = await readAll(stdin, { patience, longest }, (isSilent) => {
    note(
      `waiting for ${what}${isSilent ? `, ${limit} (--stdin-timeout sets this limit; with --no-stdin, standard input is not read)` : ''}`,
    )
  })
  switch (end) {
    case 'too-long':
      throw tooLong(`more than ${maxCharacters}`)
    case 'unfinished':
      throw new UserError(
        'usage',
        `Standard input sent ${counted(bytes.length, 'byte')}, but did not end within ${counted(longest / 1000, 'second')}. ` +
          'Close the pipe, write the input to a file first, or ignore standard input with --no-stdin.',
      )
    case 'silent':
      if (!hasPrompt)
        throw noPrompt(`No prompt arrived on standard input within ${counted(patience / 1000, 'second')}.`)
      note(
        `nothing arrived on standard input within ${counted(patience / 1000, 'second')}: continuing without it (--stdin-timeout SECONDS waits longer, --no-stdin not at all)`,
      )
      return ''
    case 'ended':
      return decode(bytes)
    default:
      return end satisfies never
  }
}

type Waits = {
  /** How long to wait for the first byte of the input, in milliseconds. */
  readonly patience: number
  /** How long to wait for the end of the input, in milliseconds. */
  readonly longest: number
}

type ReadInput = { readonly bytes: Buffer; readonly end: 'ended' | 'silent' | 'unfinished' | 'too-long' }

/** Reads a stream until it ends or exceeds a limit. If that takes a while, `onWait` is called once, with true if nothing has arrived yet. */
async function readAll(stdin: Readable, waits: Waits, onWait: (isSilent: boolean) => void): Promise<ReadInput> {
  const chunks: Buffer[] = []
  let length = 0
  const { promise, resolve } = Promise.withResolvers<ReadInput['end']>()
  const timers = [
    setLongTimeout(() => resolve('silent'), waits.patience),
    setLongTimeout(() => resolve('unfinished'), waits.longest),
    setLongTimeout(() => onWait(length === 0), noticeMs),
  ]
  stdin.on('data', (chunk: Buffer) => {
    timers[0]?.cancel()
    chunks.push(chunk)
    length += chunk.length
    // If the input is already too long, it is refused without waiting for its end, which may never come.
    if (length > maxBytes) resolve('too-long')
  })
  stdin.once('end', () => resolve('ended'))
  // A closed standard input (`<&-`) reports an error instead of an end. In both cases no more input comes.
  stdin.once('error', () => resolve('ended'))
  const end = await promise
  for (const timer of timers) timer.cancel()
  stdin.pause()
  stdin.destroy()
  return { bytes: Buffer.concat(chunks), end: end === 'unfinished' && length === 0 ? 'silent' : end }
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

/** The index of the first invalid byte, found by decoding the bytes and encoding the result again: it is the first byte that changes. */
function firstInvalid(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'))
  let at = 0
  while (at < bytes.length && bytes[at] === again[at]) at++
  return at
}
