import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readTree, runProgram } from '../case-tools.ts'

/** What Codex's scenarios expect and this program does otherwise on purpose, by the name of the scenario. */
const differences: Readonly<Record<string, string>> = {
  '015_failure_after_partial_success_leaves_changes': 'a patch that fails changes nothing',
  '024_preserves_mixed_line_endings': 'a line that replaces another has its line ending, not the most frequent one',
}

/**
 * Runs Codex's scenarios: folders with `input/`, `patch.txt` and `expected/`, as in `codex-rs/apply-patch/tests/fixtures/scenarios` of its repository.
 *
 * @returns one line for each that differs, and those that shouldn't
 */
export function runScenarios(directory: string): {
  readonly right: number
  readonly told: readonly string[]
  readonly failures: readonly string[]
} {
  const names = readdirSync(directory).filter((name) => existsSync(join(directory, name, 'patch.txt')))
  const different = names.filter((name) => !isAsExpected(join(directory, name)))
  return {
    right: names.length - different.length,
    told: different.flatMap((name) => (differences[name] === undefined ? [] : [`${name}: ${differences[name]}`])),
    failures: [
      ...(names.length === 0 ? [`no scenarios in ${directory}`] : []),
      ...different.filter((name) => differences[name] === undefined),
    ],
  }
}

function isAsExpected(scenario: string): boolean {
  const base = mkdtempSync(join(tmpdir(), 'apply-patch-scenario-'))
  try {
    for (const name of ['input', 'expected']) {
      mkdirSync(join(base, name))
      // A scenario without files has no folder for them.
      if (existsSync(join(scenario, name))) cpSync(join(scenario, name), join(base, name), { recursive: true })
    }
    const { status, stderr } = runProgram(join(base, 'input'), readFileSync(join(scenario, 'patch.txt')))
    if (status !== 0 && stderr === '') return false
    return isDeepStrictEqual(readTree(join(base, 'input')), readTree(join(base, 'expected')))
  } finally {
    rmSync(base, { recursive: true })
  }
}
