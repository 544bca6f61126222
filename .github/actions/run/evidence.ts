import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ActionError, command, input, isTrue, variable } from '../shared/runner.ts'
import { engineEnvironment, runProgram, type Outcome } from './engine.ts'

/**
 * The key that evidence of the run is to be signed with; the empty string where none is wanted. The log shows no line of it.
 *
 * @throws ActionError where the run is no transaction, of which alone there is evidence
 */
export function evidenceKey(): string {
  const key = input('evidence-key')
  if (key === '') return ''
  for (const line of key.split(/\r?\n/)) if (line.trim() !== '') command('add-mask', line.trim())
  if (!isTrue('transactional')) {
    throw new ActionError("The input 'evidence-key' signs what a transaction did: set 'transactional' to true.")
  }
  return key
}

/**
 * Signs what a run did, once it has ended: the key is on no disk while a command of the run could read it.
 *
 * @returns the file with the evidence; the empty string where there is nothing to sign
 * @throws ActionError where it could not be made, with the engine's words
 */
export function signEvidence(key: string, { exitCode, sessionId }: Outcome, bundle: string): string {
  if (key === '' || exitCode !== 0) return ''
  const keyFile = join(variable('RUNNER_TEMP'), `${sessionId}.key`)
  const evidence = join(bundle, 'evidence.json')
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600, flag: 'wx' })
  try {
    const args = ['evidence', sessionId, '-o', evidence, '--key', keyFile]
    const { status, stderr } = runProgram(args, engineEnvironment(''))
    if (status !== 0) throw new ActionError(`The run could not be signed: ${stderr.trim().slice(0, 500)}`)
    return evidence
  } finally {
    rmSync(keyFile, { force: true })
  }
}
