import type { UnsupportedClaim } from '../../../../engine/core/events.ts'
import { Evidence } from '../../../../engine/run/claims/run-evidence.ts'
import { unsupportedClaims } from '../../../../engine/run/claims/unsupported.ts'

/** A command of a run: its command line, its exit code (null if it was refused), and its output. */
export type Ran = readonly [command: string, exit: number | null, output?: string]

/** Returns the kinds of those claims in a message that contradict the record of a run. */
export async function contradicted(
  message: string,
  ran: readonly Ran[],
  changed: readonly string[] = [],
): Promise<readonly string[]> {
  return [...new Set((await contradictions(message, ran, changed)).map(({ claim }) => claim))]
}

/** Returns the claims in a message that contradict the record of a run, and why. */
export async function contradictions(
  message: string,
  ran: readonly Ran[],
  changed: readonly string[] = [],
): Promise<readonly UnsupportedClaim[]> {
  const evidence = new Evidence()
  for (const [at, [command, exit, output = '']] of ran.entries()) {
    evidence.see({
      id: `item_${at}`,
      type: 'command_execution',
      command: `/bin/bash -lc '${command.replaceAll("'", `'\\''`)}'`,
      aggregated_output: output,
      exit_code: exit,
      status: exit === null ? 'declined' : exit === 0 ? 'completed' : 'failed',
      call_id: `call_${at}`,
      cwd: '/w',
    })
  }
  const known = { ...evidence.record(), changed: changed.map((path) => `/w/${path}`), workspace: '/w', goesOn: false }
  return unsupportedClaims(message, { ...known, isTouched: () => 'as-before' })
}
