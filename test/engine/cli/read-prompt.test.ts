import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readPrompt } from '../../../engine/cli/read-prompt.ts'

const nothing = (): Readable => Readable.from([])
const piped = (...chunks: readonly (string | Buffer)[]): Readable =>
  Readable.from(chunks.map((chunk) => Buffer.from(chunk)))

test('an argument is the prompt', async () => {
  expect(await readPrompt('do it', nothing())).toBe('do it')
})

test.each([['-'], [undefined]])('%s reads standard input', async (argument) => {
  expect(await readPrompt(argument, piped('from ', 'a pipe\n'))).toBe('from a pipe\n')
})

test('text piped in besides an argument is added as a block', async () => {
  expect(await readPrompt('explain', piped('diff --git'))).toBe('explain\n\n<stdin>\ndiff --git\n</stdin>')
})

/** Collects the notes that are printed while the program waits for a prompt. */
const heard = (): { readonly notes: string[]; readonly note: (sentence: string) => void } => {
  const notes: string[] = []
  return { notes, note: (sentence) => void notes.push(sentence) }
}

test('text that is piped in late still belongs to the prompt, and a message says that it is awaited', async () => {
  const { notes, note } = heard()
  const input = new PassThrough()
  setTimeout(() => input.write('diff '), 3500)
  setTimeout(() => input.end('--git'), 4500)
  expect(await readPrompt('explain', input, { note })).toBe('explain\n\n<stdin>\ndiff --git\n</stdin>')
  expect(notes).toEqual([expect.stringMatching(/^waiting for the end of standard input, .*--stdin-timeout/)])
})

test('a silent standard input is ignored after a while, with a message', async () => {
  const { notes, note } = heard()
  expect(await readPrompt('do it', new PassThrough(), { stdinTimeout: 1, note })).toBe('do it')
  expect(notes).toEqual([
    expect.stringMatching(/^nothing arrived on standard input within 1 second: continuing without it/),
  ])
})

test('a missing prompt is refused', async () => {
  await expect(readPrompt(undefined, new PassThrough(), { stdinTimeout: 1 })).rejects.toThrow(
    'No prompt arrived on standard input within 1 second.',
  )
})

test('input that begins and does not end is refused, not cut off', async () => {
  const input = new PassThrough()
  input.write('half a diff')
  await expect(readPrompt('explain', input, { timeout: 1 })).rejects.toThrow('sent 11 bytes, but did not end')
})

test.each([['do it'], ['-'], [undefined]])('with --no-stdin and %s nothing is read', async (argument) => {
  const input = piped('not for you')
  const reading = readPrompt(argument, input, { stdin: false })
  if (argument === 'do it') expect(await reading).toBe('do it')
  else await expect(reading).rejects.toThrow('No prompt.')
  expect(input.readableDidRead).toBe(false)
})

test('at a terminal, a missing prompt is an error, and the program does not wait', async () => {
  await expect(readPrompt(undefined, Object.assign(new PassThrough(), { isTTY: true }))).rejects.toThrow('No prompt.')
})

test('an empty prompt is refused', async () => {
  await expect(readPrompt('-', piped(' \n'))).rejects.toThrow('No prompt provided via stdin.')
})

test('input that is not UTF-8 is refused, with the byte', async () => {
  await expect(readPrompt('-', piped(Buffer.from([0x63, 0x61, 0x66, 0xe9])))).rejects.toThrow('byte 3 is invalid')
})

test('input that is far too long is refused', async () => {
  await expect(readPrompt('-', piped('x'.repeat(1_048_577)))).rejects.toThrow('the limit is 1048576')
})
