import { readFileSync } from 'node:fs'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { fingerprint, makeCase, readTree, runProgram, type Case } from './case-tools.ts'

const isRoot = process.getuid?.() === 0

/** Reads the rows of a fixture file. They are not validated, because they are our own. */
function readCases(name: string): readonly Case[] {
  const text = readFileSync(new URL(`../../fixtures/apply-patch/${name}`, import.meta.url), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Case)
}

/**
 * Declares a test for each recorded case.
 *
 * @param command the words that start the program
 */
export function testEveryCase(command?: readonly string[]): void {
  describe.each(['cases.jsonl', 'further-cases.jsonl'])('every row of %s holds', (name) => testCases(name, command))
}

function testCases(name: string, command: readonly string[] | undefined): void {
  for (const row of readCases(name)) {
    const needsRoot = row.run_as_uid !== undefined && !isRoot
    test.skipIf(needsRoot)(`${row.id}: ${row.expect}${needsRoot ? ' (needs root to become another user)' : ''}`, () => {
      const { cwd, outside } = makeCase(row)
      const [before, outsideBefore] = [fingerprint(cwd), fingerprint(outside)]
      const patch = row.patch.replaceAll('<OUTSIDE>', outside).replaceAll('<CWD>', cwd)
      const isArgument = row.argv_mode === 'arg'
      const run = runProgram(cwd, isArgument ? '' : patch, {
        ...(command === undefined ? {} : { command }),
        args: [...(row.args ?? []), ...(isArgument ? [patch] : [])],
        ...(row.umask === undefined ? {} : { umask: row.umask }),
        ...(row.run_as_uid === undefined ? {} : { uid: row.run_as_uid }),
      })
      expect(run.stderr).not.toMatch(/^\s+at .*:\d+:\d+/m)
      expect(fingerprint(outside)).toEqual(outsideBefore)
      const unchanged = (): void => {
        expect(run.status, run.stderr).toBeGreaterThan(0)
        expect(run.stdout).toBe('')
        expect(run.stderr).not.toBe('')
        expect(fingerprint(cwd)).toEqual(before)
      }
      switch (row.expect) {
        case 'same':
        case 'exact': {
          const final = row.expect_final ?? row.final
          expect({ ...run, stderr: '' }, run.stderr).toEqual({ status: 0, stdout: row.stdout, stderr: '' })
          return expect(readTree(cwd, final)).toEqual(final)
        }
        case 'unchanged':
        case 'fails':
          unchanged()
          // If Codex failed too, our message begins with the same line as Codex's message.
          if (row.exit !== 0 && row.stderr !== '') {
            const first = row.stderr.split('\n')[0]?.replaceAll('<CWD>', cwd)
            expect(run.stderr.split('\n')[0]).toBe(first)
            expect(run.status).toBe(row.exit)
          }
          return
        case 'better':
          expect(run.status, run.stderr).toBe(0)
          return row.expect_final && expect(readTree(cwd, row.expect_final)).toEqual(row.expect_final)
        case 'either':
          return run.status === 0 ? expect(run.stdout).toMatch(/^Success/) : unchanged()
        case 'survives':
          return expect(readTree(cwd)).toHaveProperty(['f.txt'])
        default:
          return row.expect satisfies never
      }
    })
  }
}
