import { expect, test } from 'vitest'
import { code, sources } from './sources.ts'

/** Folders that read files which a user names, or which anybody may have put at a place where settings are looked for. */
const folders = [
  'agents',
  'app',
  'approvals',
  'cli',
  'config',
  'hooks',
  'mcp',
  'memory',
  'models',
  'report',
  'review',
  'skills',
]

test('a file that somebody named is read only by functions that refuse pipes and devices, and bound its size', () => {
  const files = [
    ...folders.flatMap((folder) => sources(`engine/${folder}`)),
    'engine/session/rollout.ts',
    ...sources('policies'),
  ]
  const reading = /\b(?:readFileSync|createReadStream)\(|\bfs\/promises.*\breadFile\b|\breadFile\b.*fs\/promises/
  expect(files.filter((file) => reading.test(code(file)))).toEqual([])
  // Opening for reading is what waits for the other end of a pipe. The log is opened for writing, after it was read.
  const opening = files.filter((file) => /\bopenSync\(/.test(code(file)))
  expect(opening.toSorted()).toEqual([
    'engine/session/rollout.ts',
    'policies/audit/hash-chain.ts',
    'policies/audit/log.ts',
    'policies/read-file.ts',
  ])
})
