import { createHash, type KeyObject } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../../engine/core/user-error.ts'
import { openEnvelope } from '../../../engine/transaction/evidence/envelope.ts'
import { readPublicKey } from '../../../engine/transaction/evidence/keys.ts'
import type { FileAfter, Statement } from '../../../engine/transaction/evidence/statement.ts'
import { ActionError } from '../shared/runner.ts'
import type { Patched } from './patched-files.ts'

const largestEvidence = 256 * 1024 * 1024

/** The files that a run's signed evidence covers, by path. */
export type Signed = ReadonlyMap<string, FileAfter>

/**
 * Reads the evidence in a bundle.
 *
 * @param keys public keys, in PEM or in the one-line format of ssh. One of them must verify the evidence's signature
 * @param base the commit to which the patch applies
 * @throws ActionError if the evidence is missing, too large or damaged, has no valid signature of these keys, is for a different commit, belongs to a
 *   run that failed, or covers more than one tree; also if `keys` contains no key, or one that can't be read
 */
export function readEvidence(bundle: string, keys: string, base: string): Signed {
  const refuse = (why: string): never => {
    throw new ActionError(`The evidence is refused: ${why}. Nothing is applied.`)
  }
  const file = join(bundle, 'evidence.json')
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat?.isFile() !== true || stat.size > largestEvidence) {
    return refuse("the bundle has no evidence.json (of at most 256 MiB), which 'evidence-public-key' requires")
  }
  const opened = openEnvelope(readFileSync(file, 'utf8'), publicKeys(keys))
  if (opened.type === 'broken') return refuse(opened.why)
  const { subject, predicate } = opened.statement
  if (!subject.some(({ digest }) => 'gitCommit' in digest && digest.gitCommit === base)) {
    return refuse(`it is about a run on a commit other than ${base}`)
  }
  if (predicate.exit_code !== 0) return refuse(`it is about a run that ended with ${endOf(predicate)}`)
  const [tree, ...others] = predicate.trees
  if (tree === undefined || others.length > 0) return refuse(`it covers ${predicate.trees.length} trees instead of one`)
  return new Map(tree.files.map((each) => [each.path, each]))
}

/** Throws an ActionError if a file in the patch differs from its version in the signed evidence. The error names the first such file. */
export function checkEvidence(patched: readonly Patched[], signed: Signed): void {
  for (const one of patched) {
    if (!isAsSigned(one, signed.get(one.path))) {
      const name = JSON.stringify(one.path)
      throw new ActionError(`${name} differs from the run's result in the evidence. Nothing is applied.`)
    }
  }
}

function isAsSigned({ content, mode }: Patched, signed: FileAfter | undefined): boolean {
  if (content === null) return signed?.type === 'absent'
  if (signed?.type !== 'file') return false
  const isProgram = (signed.mode & 0o100) !== 0
  return signed.sha256 === createHash('sha256').update(content).digest('hex') && isProgram === (mode === '100755')
}

function endOf({ exit_code: code, result }: Statement['predicate']): string {
  return code === null ? 'no exit code' : `exit code ${code} (${result ?? 'no result'})`
}

/** Returns the public keys in the input `evidence-public-key`. @throws ActionError if there is none, or one can't be read */
function publicKeys(text: string): readonly KeyObject[] {
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----|^(?:ssh-|ecdsa-).+$/gm) ?? []
  if (blocks.length === 0) {
    throw new ActionError(
      "The input 'evidence-public-key' contains no public key. A key must be in PEM format, or be one line in OpenSSH's format.",
    )
  }
  try {
    return blocks.map((block) => readPublicKey(block, "The input 'evidence-public-key'"))
  } catch (error) {
    if (error instanceof UserError) throw new ActionError(error.message)
    throw error
  }
}
