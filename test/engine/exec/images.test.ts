import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const open = ['-s', 'danger-full-access']
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

function picture(name = 'a.png', bytes: Uint8Array = pixel): string {
  const file = join(tempDir(), name)
  writeFileSync(file, bytes)
  return file
}

test('pictures reach the model with the prompt, in order, whatever their file extensions', async () => {
  const home = tempDir()
  const cwd = repository()
  const gif = picture('b.dat', Buffer.from('GIF89a and more'))
  const { code, requests } = await exec(
    [[say('ok')]],
    [...open, '-i', `${picture()},${gif}`, '-i', picture(), 'look'],
    {
      cwd,
      home,
    },
  )
  expect(code).toBe(0)
  const parts = [
    { type: 'input_text', text: 'look' },
    { type: 'input_image', image_url: `data:image/png;base64,${pixel.toString('base64')}` },
    { type: 'input_image', image_url: expect.stringMatching(/^data:image\/gif;base64,/) },
    { type: 'input_image', image_url: expect.stringMatching(/^data:image\/png;base64,/) },
  ]
  const { input } = requests[0]?.body as { input: readonly object[] }
  expect(input.at(-1)).toMatchObject({ role: 'user', content: parts })

  const resumed = await exec([[say('ok')]], [...open, 'resume', '--last', 'and now?'], { cwd, home })
  const again = resumed.requests[0]?.body as { input: readonly object[] }
  expect(again.input).toContainEqual(
    expect.objectContaining({ content: parts.map((part) => expect.objectContaining(part)) }),
  )
})

test.each([
  ['gone.png', undefined, "gone.png: can't be read"],
  ['text.png', Buffer.from('hello'), 'text.png: not a PNG, JPEG, GIF or WebP picture'],
])('%s is refused before anything is asked', async (name, bytes, message) => {
  const file = bytes === undefined ? join(tempDir(), name) : picture(name, bytes)
  const { code, stderr, requests } = await exec([], [...open, '-i', file, 'look'], { cwd: repository() })
  expect(code).toBe(2)
  expect(stderr).toContain(message)
  expect(requests).toHaveLength(0)
})
