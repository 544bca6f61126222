import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KeptOutputs } from '../../../engine/core/kept-outputs.ts'
import { maskSecrets } from '../../../engine/core/text/mask-secrets.ts'
import { tempDir } from '../../support/temp-dir.ts'

function open(quota?: number): KeptOutputs {
  const folder = tempDir()
  let count = 0
  const keep = (bytes: Uint8Array): string => {
    const path = join(folder, `${count++}.txt`)
    writeFileSync(path, bytes)
    return path
  }
  return new KeptOutputs(keep, maskSecrets({ MY_TOKEN: 'sk-123456789' }), quota)
}

test('an output is stored byte for byte, whatever its encoding, except for secrets', () => {
  const kept = open()
  const bytes = Buffer.concat([Buffer.from([0xff, 0, 0x1b]), Buffer.from('[31m a sk-123456789 b')])
  const path = kept.keep(bytes)
  expect(readFileSync(path ?? '')).toEqual(
    Buffer.concat([Buffer.from([0xff, 0, 0x1b]), Buffer.from('[31m a [MY_TOKEN] b')]),
  )
})

test('no other file can be read through it', () => {
  const kept = open()
  expect(kept.read('/etc/hostname')).toBeUndefined()
  expect(kept.read(kept.keep(Buffer.from('mine')) ?? '')?.toString()).toBe('mine')
})

test('beyond the quota only the beginning and the end of each output are stored, with a note about what is missing', () => {
  const kept = open(100_000)
  const long = Buffer.from(`first ${'x'.repeat(100_000)} last`)
  const sizes = [1, 2, 3].map(() => readFileSync(kept.keep(long) ?? '').length)
  expect(sizes[0]).toBeGreaterThan(99_000)
  expect(sizes[1]).toBeLessThan(66_000)
  expect(sizes[2]).toBeLessThan(66_000)
  const last = readFileSync(kept.keep(long) ?? '', 'utf8')
  expect(last).toMatch(/^first x+\n\[\.\.\. \d+ bytes left out \.\.\.\]\nx+ last$/)
})

test('an output that no disk takes is not stored, and any other failure is an error', () => {
  const failing = (code: string) => {
    const keep = (): never => {
      throw Object.assign(new Error(code), { code })
    }
    return new KeptOutputs(keep, (text) => text)
  }
  expect(failing('ENOSPC').keep(Buffer.from('mine'))).toBe(undefined)
  expect(() => failing('EBADF').keep(Buffer.from('mine'))).toThrow('EBADF')
})
