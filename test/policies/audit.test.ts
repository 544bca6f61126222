import {
  appendFileSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  AuditError,
  createGuardian,
  nobody,
  openAuditLog,
  verifyAuditLog,
  type AuditHead,
} from '../../policies/index.ts'
import { tempDir } from '../support/temp-dir.ts'
import { shellAction } from './decisions.ts'

const folder = mkdtempSync(join(tmpdir(), 'portcullis-audit-'))
afterAll(() => rmSync(folder, { recursive: true }))

let count = 0
async function writtenLog(): Promise<{ readonly path: string; readonly head: AuditHead }> {
  const path = join(folder, `log-${count++}.jsonl`)
  const audit = openAuditLog(path)
  const guardian = createGuardian({ approvalMode: 'never', reviewer: nobody, audit })
  for (const line of ['ls', 'touch x', 'sudo ls', 'cat .env']) await guardian.review(shellAction(line))
  audit.close()
  return { path, head: audit.head() }
}

function edit(path: string, change: (lines: string[]) => string[]): void {
  writeFileSync(path, change(readFileSync(path, 'utf8').split('\n')).join('\n'))
}

describe('verifying an audit log', () => {
  test('finds no fault in an unchanged log, even if it was continued', async () => {
    const { path, head } = await writtenLog()
    expect(verifyAuditLog(path)).toEqual({ records: 4, head, faults: [] })
    const again = openAuditLog(path)
    await createGuardian({ approvalMode: 'never', reviewer: nobody, audit: again }).review(shellAction('pwd'))
    again.close()
    expect(verifyAuditLog(path, { expected: again.head() })).toMatchObject({ records: 5, faults: [] })
  })

  test.each([
    [
      'an edited record',
      'edited',
      (lines: string[]) => lines.map((line, at) => (at === 1 ? line.replace('touch x', 'touch y') : line)),
    ],
    [
      'an edited last record',
      'edited',
      (lines: string[]) => lines.map((line, at) => (at === 3 ? line.replace('deny', 'allow') : line)),
    ],
    ['a removed record', 'removed', (lines: string[]) => lines.toSpliced(1, 1)],
    ['a removed first record', 'removed', (lines: string[]) => lines.slice(1)],
    [
      'two records swapped',
      'removed',
      (lines: string[]) => [lines[0] ?? '', lines[2] ?? '', lines[1] ?? '', ...lines.slice(3)],
    ],
    ['a removed end', 'truncated', (lines: string[]) => [...lines.slice(0, 2), '']],
    ['everything removed', 'truncated', () => ['']],
    [
      'a line that is no record',
      'not-a-record',
      (lines: string[]) => lines.map((line, at) => (at === 2 ? '{}' : line)),
    ],
    ['an inserted record', 'removed', (lines: string[]) => lines.toSpliced(2, 0, lines[1] ?? '')],
  ] as const)('finds %s', async (_, kind, change) => {
    const { path } = await writtenLog()
    edit(path, change)
    expect(verifyAuditLog(path).faults.map((fault) => fault.kind)).toContain(kind)
  })

  test('finds a record cut in the middle, and bytes after the end', async () => {
    const cut = await writtenLog()
    truncateSync(cut.path, readFileSync(cut.path).length - 10)
    expect(verifyAuditLog(cut.path).faults.map(({ kind }) => kind)).toContain('truncated')
    const longer = await writtenLog()
    appendFileSync(longer.path, 'x')
    expect(verifyAuditLog(longer.path).faults).not.toEqual([])
  })

  test('takes a log of a run in which nothing was judged as intact, but not one from which all records were removed', async () => {
    const unused = join(tempDir(), 'audit.jsonl')
    const { head } = openAuditLog(unused)
    expect(verifyAuditLog(unused)).toEqual({ records: 0, head: head(), faults: [] })
    for (const gone of [[], ['.head'], ['.key']]) {
      const { path } = await writtenLog()
      writeFileSync(path, '')
      for (const end of gone) rmSync(`${path}${end}`)
      expect(verifyAuditLog(path).faults, gone.join()).not.toEqual([])
    }
  })

  test('reports a missing head file, and detects a truncated log with a head stored elsewhere', async () => {
    const { path, head } = await writtenLog()
    rmSync(`${path}.head`)
    expect(verifyAuditLog(path).faults.map(({ kind }) => kind)).toEqual(['no-head'])
    edit(path, (lines) => [...lines.slice(0, 3), ''])
    expect(verifyAuditLog(path, { expected: head }).faults.map(({ kind }) => kind)).toEqual(['truncated'])
  })

  test('a truncated log is not continued, but one that a killed run left is', async () => {
    const { path } = await writtenLog()
    const whole = readFileSync(path, 'utf8')
    edit(path, (lines) => [...lines.slice(0, 2), ''])
    expect(() => openAuditLog(path)).toThrow(/does not end with the record that was written last/)
    writeFileSync(path, whole)
    const lines = whole.trimEnd().split('\n')
    const third = JSON.parse(lines[3] ?? '') as { previous: string }
    writeFileSync(`${path}.head`, JSON.stringify({ records: 3, hash: third.previous }))
    expect(verifyAuditLog(path).faults).toEqual([])
    openAuditLog(path).close()
  })

  test.each([
    [
      'the last one with another number',
      (line: string, number: number, previous: string) => ({ ...(JSON.parse(line) as object), number, previous }),
    ],
    [
      'one without a seal',
      (_: string, number: number, previous: string) => ({ number, previous, time: 'now', verdict: 'allow' }),
    ],
    [
      'one with a seal made up',
      (_: string, number: number, previous: string) => ({ number, previous, seal: 'a'.repeat(64) }),
    ],
  ])('finds a forged record at the end, with the right hash and the right number: %s', async (_, forge) => {
    const { path, head } = await writtenLog()
    const last = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? ''
    appendFileSync(path, `${JSON.stringify(forge(last, head.records + 1, head.hash))}\n`)
    expect(verifyAuditLog(path).faults.map(({ kind }) => kind)).toEqual(['forged'])
    expect(verifyAuditLog(path, { expected: head }).faults.map(({ kind }) => kind)).toEqual(['forged'])
    expect(() => openAuditLog(path)).toThrow(/was not written by a run/)
  })

  test('replaces a key that a killed run left incomplete, unless records are sealed with it', async () => {
    const path = join(folder, `log-${count++}.jsonl`)
    writeFileSync(`${path}.key`, '')
    const audit = openAuditLog(path)
    await createGuardian({ approvalMode: 'never', reviewer: nobody, audit }).review(shellAction('ls'))
    audit.close()
    expect(verifyAuditLog(path)).toMatchObject({ records: 1, faults: [] })
    writeFileSync(`${path}.key`, '')
    const again = openAuditLog(path)
    await expect(
      createGuardian({ approvalMode: 'never', reviewer: nobody, audit: again }).review(shellAction('ls')),
    ).resolves.toMatchObject({ verdict: { decision: 'deny', decidedBy: 'audit' } })
    again.close()
  })

  test('reports a missing key of its seals', async () => {
    const { path, head } = await writtenLog()
    expect(statSync(`${path}.key`).mode & 0o777).toBe(0o600)
    rmSync(`${path}.key`)
    expect(verifyAuditLog(path).faults.map(({ kind }) => kind)).toEqual(['no-key'])
    expect(verifyAuditLog(path, { expected: head }).faults).toEqual([])
  })

  test.each([
    ['removed', (path: string) => rmSync(path)],
    ['moved away', (path: string) => renameSync(path, `${path}.old`)],
    ['replaced by a copy', (path: string) => writeFileSync(`${path}.copy`, readFileSync(path))],
    ['linked elsewhere', (path: string) => linkSync(path, `${path}.link`)],
  ])('a log that is %s while it is written allows nothing more', async (how, change) => {
    const path = join(folder, `log-${count++}.jsonl`)
    const audit = openAuditLog(path)
    const guardian = createGuardian({ approvalMode: 'never', reviewer: nobody, audit })
    expect((await guardian.review(shellAction('ls'))).verdict.decision).toBe('allow')
    change(path)
    if (how === 'replaced by a copy') renameSync(`${path}.copy`, path)
    const { verdict } = await guardian.review(shellAction('ls'))
    expect(verdict).toMatchObject({
      decision: 'deny',
      decidedBy: 'audit',
      reason: expect.stringContaining('removed or replaced'),
    })
    audit.close()
  })

  test('of a missing file is an error', () => {
    expect(() => verifyAuditLog(join(folder, 'none'))).toThrow(AuditError)
  })
})
