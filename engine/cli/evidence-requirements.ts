import { judgementWords } from '../core/run-record.ts'
import type { Statement } from '../transaction/evidence/statement.ts'

/**
 * What evidence can be required to say: `verified`: all `--verify` commands passed; `kept`: so did all tests of the base, as they were; `policy=HASH`: all runs
 * were decided by the policy with this hash.
 */
export type Requirement = 'verified' | 'kept' | `policy=${string}`

/** Says in what a statement doesn't meet a requirement; empty if it does. */
export function requirementFaults(statement: Statement, wanted: Requirement): readonly string[] {
  const { verified } = statement.predicate
  if (wanted !== 'verified' && wanted !== 'kept') {
    const hashes = policiesOf(statement)
    if (hashes.length === 0) return [`not ${wanted}: the evidence doesn't say what the run's policy was`]
    return hashes.flatMap((hash) => (wanted === `policy=${hash}` ? [] : [`not ${wanted}: a run's policy was ${hash}`]))
  }
  if (verified.length === 0) return [`not ${wanted}: the run had no --verify commands`]
  return verified.flatMap(({ command, passed, judged }) => {
    if (passed && wanted === 'verified') return []
    if (wanted === 'verified' && (judged === undefined || judged.verdict === 'kept'))
      return [`not verified: ${command} did not pass`]
    if (judged === undefined) return [`not kept: ${command} was not judged with the tests of the base`]
    return judged.verdict === 'kept' ? [] : [`not ${wanted}: ${command}: ${judgementWords(judged)}`]
  })
}

/** The hashes of the policies under which the session's runs were decided. */
export function policiesOf({ predicate }: Statement): readonly string[] {
  return [...new Set(predicate.decided_by.map((each) => each.policy_sha256))]
}
