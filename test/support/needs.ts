import { spawnSync } from 'node:child_process'
import process from 'node:process'

/** Whether bubblewrap is missing here, said once. On a CI machine its absence is an error: tests must not skip there. */
export function needsBubblewrap(): boolean {
  return missing('bubblewrap', spawnSync('bwrap', ['--version']).status === 0, 'the program bwrap is not installed')
}

/** Whether `script`, which gives a program a terminal of its own, is missing here, said once. */
export function needsScript(): boolean {
  const present = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true
  return missing('script', present, 'the program script of util-linux is not installed')
}

/** Whether one of these programs, which a machine may well lack, is missing here; said for each. */
export function needsPrograms(...names: readonly string[]): boolean {
  const missing = names.filter((name) => spawnSync('sh', ['-c', 'command -v "$0"', name]).status !== 0)
  for (const name of missing) console.warn(`skipped, ${name} is needed: the program is not installed`)
  return missing.length > 0
}

/** Starts a program where bubblewrap seems not to be installed. */
export const hidingBubblewrap = ['bwrap', '--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap', '--']

function missing(name: string, present: boolean, reason: string): boolean {
  if (present) return false
  if (process.env['CI'] === 'true') throw new Error(`${name} is needed by these tests on CI: ${reason}`)
  console.warn(`skipped, ${name} is needed: ${reason}`)
  return true
}
