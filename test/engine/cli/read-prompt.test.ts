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

test('text piped in beside an argument is added as a block', async () => {
  expect(await readPrompt('explain', piped('diff --git'))).toBe('explain\n\n<stdin>\ndiff --git\n</stdin>')
})

test('an open but silent standard input does not hold up a prompt', async () => {
  expect(await readPrompt('do it', new PassThrough())).toBe('do it')
})

test('a terminal without a prompt is told so instead of being waited for', async () => {
  await expect(readPrompt(undefined, Object.assign(new PassThrough(), { isTTY: true }))).rejects.toThrow('No prompt.')
})

test('an empty prompt is refused', async () => {
  await expect(readPrompt('-', piped(' \n'))).rejects.toThrow('No prompt.')
})

test('input that is not UTF-8 is refused, with the byte', async () => {
  await expect(readPrompt('-', piped(Buffer.from([0x63, 0x61, 0x66, 0xe9])))).rejects.toThrow('byte 3 is invalid')
})

test('input that is far too long is refused', async () => {
  await expect(readPrompt('-', piped('x'.repeat(1_048_577)))).rejects.toThrow('at most 1048576 fit')
})
