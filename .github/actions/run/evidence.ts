import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ActionError, chosenInput, command, variable } from '../shared/runner.ts'
import { engineEnvironment, runProgram, type Outcome } from './engine.ts'

/**
 * Returns the key that signs evidence of the run; the empty string if no evidence is requested. The runner is told to mask every line of the key in the log.
 */
export function evidenceKey(): string {
  const key = chosenInput('evidence-key')
  if (key === '') return ''
  for (const line of key.split(/\r?\n/)) if (line.trim() !== '') command('add-mask', line.trim())
  return key
}

/**
 * Signs evidence of a run after its end. The key is written to the disk only at that time, when no command in the run can read it any more.
 *
 * @returns the path of the file with the evidence; the empty string if no key was given or the run failed
 * @throws ActionError with the engine's message if signing fails
 */
export function signEvidence(key: string, { exitCode, sessionId }: Outcome, bundle: string): string {
  if (key === '' || exitCode !== 0) return ''
  const keyFile = join(variable('RUNNER_TEMP'), `${sessionId}.key`)
  const evidence = join(bundle, 'evidence.json')
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600, flag: 'wx' })
  try {
    const args = ['evidence', sessionId, '-o', evidence, '--key', keyFile]
    const { status, stderr } = runProgram(args, engineEnvironment(''))
    if (status !== 0)
      throw new ActionError(`The evidence of the run could not be signed: ${stderr.trim().slice(0, 500)}`)
    return evidence
  } finally {
    rmSync(keyFile, { force: true })
  }
}
