import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import process from 'node:process'
import { holdOutput, readHostFile } from '../../sandbox/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { sanitizeOutput } from '../core/text/sanitize-output.ts'
import { UserError } from '../core/user-error.ts'
import { differencesIn } from '../transaction/evidence/check-tree.ts'
import { openEnvelope, sealStatement } from '../transaction/evidence/envelope.ts'
import { readPrivateKey, readPublicKey } from '../transaction/evidence/keys.ts'
import { makeStatement, type RunFacts } from '../transaction/evidence/make-statement.ts'
import type { Statement } from '../transaction/evidence/statement.ts'
import { recordOf } from './changed-session.ts'
import { findChangedSession } from './find-changes.ts'

/** The options of `agent evidence`. */
export type EvidenceOptions = { readonly output: string; readonly key: string }

/** The options of `agent evidence verify`. */
export type VerifyOptions = {
  readonly tree?: readonly string[]
  readonly patch?: string
  readonly publicKey?: readonly string[]
}

const [largestKey, largestEvidence, largestPatch] = [64 * 1024, 256 * 1024 * 1024, 1024 * 1024 * 1024]

/** `agent evidence`: a signed statement of what a run with `--transactional` changed, under which rules, and how it was verified. */
export async function evidenceCommand(run: string | undefined, { output, key }: EvidenceOptions): Promise<number> {
  const session = findChangedSession(run)
  const signer = readPrivateKey(textOf(key, largestKey, 'the key'), key)
  const record = await recordOf(session, true)
  const facts = await factsOf(session.directory)
  const sealed = sealStatement(makeStatement(session.directory, session.state, record, facts, new Date()), signer)
  if (output === '-') process.stdout.write(sealed)
  else holdOutput(output).write(sealed)
  return exitCodes.done
}

async function factsOf(directory: string): Promise<RunFacts> {
  const { collectReport } = await import('../report/render-report.ts')
  const report = collectReport(directory)
  const run = typeof report === 'string' ? undefined : report.runs.at(-1)
  const end = run?.end
  return {
    model: run?.model,
    result: end?.result,
    exitCode: end?.exitCode,
    costUsd: end?.costUsd,
    auditHead: end?.auditHead,
    verified: (end?.verified ?? []).map(({ command, passed, exitCode, durationMs, attempts }) => ({
      command,
      passed,
      exit_code: exitCode ?? null,
      duration_ms: durationMs,
      attempts,
    })),
  }
}

/** `agent evidence verify`: whether evidence is whole, of a key that is trusted, and of this patch and these trees. Nothing is fetched. */
export function verifyEvidence(file: string, { tree = [], patch, publicKey = [] }: VerifyOptions): number {
  const trusted = publicKey.map((each) => readPublicKey(textOf(each, largestKey, 'the public key'), each))
  const opened = openEnvelope(textOf(file, largestEvidence, 'the evidence'), trusted)
  if (opened.type === 'broken') return tell([`${file}: ${opened.why}`])
  const { statement, keyId, isTrusted } = opened
  const faults = [...patchFaults(statement, patch), ...treeFaults(statement, tree)]
  if (faults.length > 0) return tell(faults)
  const { predicate } = statement
  const whose = isTrusted ? keyId : `${keyId}, whose key nobody has said: --public-key holds it to one`
  const known = [
    ...(patch === undefined ? [] : ['the patch']),
    ...(tree.length === 0 ? [] : [`${predicate.trees.flatMap(({ files }) => files).length} paths of the tree`]),
  ]
  process.stdout.write(`${file}: whole, signed by ${whose}\n`)
  const held =
    known.length === 0 ? 'nothing else was compared: name --tree or --patch' : `as it says: ${known.join(', ')}`
  process.stdout.write(`session ${predicate.session}, ${held}\n`)
  return exitCodes.done
}

function patchFaults({ subject }: Statement, patch: string | undefined): readonly string[] {
  if (patch === undefined) return []
  const bytes = bytesOf(patch, largestPatch, 'the patch')
  const hash = createHash('sha256').update(bytes).digest('hex')
  const isIt = subject.some(({ digest }) => 'sha256' in digest && digest.sha256 === hash)
  return isIt ? [] : [`${patch}: not the patch that the evidence is of`]
}

function treeFaults({ predicate }: Statement, trees: readonly string[]): readonly string[] {
  if (trees.length === 0) return []
  if (trees.length !== predicate.trees.length) {
    const message = `The run worked on ${predicate.trees.length} trees, and ${trees.length} were named: give --tree for each, in their order.`
    throw new UserError('usage', message)
  }
  return trees.flatMap((tree, index) => {
    if (statSync(tree, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new UserError('usage', `--tree ${tree}: there is no such directory.`)
    }
    return differencesIn(resolve(tree), predicate.trees[index]?.files ?? [])
  })
}

function tell(faults: readonly string[]): number {
  for (const fault of faults) process.stdout.write(`${sanitizeOutput(Buffer.from(fault)).replaceAll('\n', '⏎')}\n`)
  return exitCodes.failed
}

function textOf(file: string, most: number, what: string): string {
  return bytesOf(file, most, what).toString('utf8')
}

/** @throws UserError `usage` where it can't be read */
function bytesOf(file: string, most: number, what: string): Buffer {
  const bytes = readHostFile(file, { maxBytes: most })
  if (bytes !== undefined) return bytes
  throw new UserError('usage', `${file}: ${what} can't be read: it is not there, no file, closed to you, or too large.`)
}
