import { expect, test } from 'vitest'
import { code, sources } from './sources.ts'

/** Options that limit the time, or stand for such options. */
const limited = /\btimeout\b|\.\.\.(?:patience|longPatience|limits)\b|\boptions\b/

test('no program is waited for without a time limit, because no signal ends a process that waits in this way', () => {
  const files = ['engine', 'sandbox', 'policies', 'apply-patch'].flatMap((folder) => sources(folder))
  const calls = files.flatMap((file) =>
    [...code(file).matchAll(/\b(?:spawnSync|execFileSync|execSync|execaSync)\((?<words>[^]*?)\n? *\}?\)\n/g)].map(
      ({ groups }) => ({ file, words: groups?.['words'] ?? '' }),
    ),
  )
  expect(calls.length).toBeGreaterThan(10)
  expect(calls.filter(({ words }) => !limited.test(words))).toEqual([])
})
