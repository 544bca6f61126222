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

/** What a run signed that it left, by path. */
export type Signed = ReadonlyMap<string, FileAfter>

/**
 * Opens the evidence of a bundle.
 *
 * @param keys public keys, in PEM or as lines of ssh, of which one has to have signed it
 * @param base the commit that the patch is of
 * @throws ActionError where it is not there, not whole, of another key or commit, or of a run that did not succeed
 */
export function readEvidence(bundle: string, keys: string, base: string): Signed {
  const refuse = (why: string): never => {
    throw new ActionError(`The evidence is refused: ${why}. Nothing is applied.`)
  }
  const file = join(bundle, 'evidence.json')
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat?.isFile() !== true || stat.size > largestEvidence) {
    return refuse("there is no evidence.json in the bundle, which 'evidence-public-key' asks for")
  }
  const opened = openEnvelope(readFileSync(file, 'utf8'), publicKeys(keys))
  if (opened.type === 'broken') return refuse(opened.why)
  const { subject, predicate } = opened.statement
  if (!subject.some(({ digest }) => 'gitCommit' in digest && digest.gitCommit === base)) {
    return refuse(`it is of a run on another commit than ${base}`)
  }
  if (predicate.exit_code !== 0) return refuse(`the run that it is of ended with ${endOf(predicate)}`)
  const [tree, ...others] = predicate.trees
  if (tree === undefined || others.length > 0) return refuse(`it is of ${predicate.trees.length} trees, and not of one`)
  return new Map(tree.files.map((each) => [each.path, each]))
}

/** Refuses what a patch would write that the run did not sign, byte for byte. @throws ActionError that names the first */
export function checkEvidence(patched: readonly Patched[], signed: Signed): void {
  for (const one of patched) {
    if (!isAsSigned(one, signed.get(one.path))) {
      const name = JSON.stringify(one.path)
      throw new ActionError(`${name} is not as the run left it, by its evidence. Nothing is applied.`)
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

/** @throws ActionError where the input is no key */
function publicKeys(text: string): readonly KeyObject[] {
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----|^(?:ssh-|ecdsa-).+$/gm) ?? []
  if (blocks.length === 0) {
    throw new ActionError("The input 'evidence-public-key' holds no public key, in PEM or as a line of ssh.")
  }
  try {
    return blocks.map((block) => readPublicKey(block, "The input 'evidence-public-key'"))
  } catch (error) {
    if (error instanceof UserError) throw new ActionError(error.message)
    throw error
  }
}
