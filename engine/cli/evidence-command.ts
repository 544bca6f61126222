import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { openSandbox, parsePolicy, readHostFile } from '../../sandbox/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { counted } from '../core/text/counted.ts'
import { UserError } from '../core/user-error.ts'
import { differencesIn } from '../transaction/evidence/check-tree.ts'
import { openEnvelope, sealStatement } from '../transaction/evidence/envelope.ts'
import { readPrivateKey, readPublicKey } from '../transaction/evidence/keys.ts'
import { makeStatement, type RunFacts } from '../transaction/evidence/make-statement.ts'
import { unchangedFiles, type UnchangedFiles } from '../transaction/evidence/unchanged-files.ts'
import type { Statement } from '../transaction/evidence/statement.ts'
import type { ChangeRecord } from '../transaction/change-record.ts'
import { sandboxOfLastRun } from '../transaction/changes-of-session.ts'
import { isAllReverted } from '../transaction/view-state.ts'
import { recordOf } from './changed-session.ts'
import { policiesOf, requirementFaults, type Requirement } from './evidence-requirements.ts'
import { findChangedSession, type NamedRun, type ChangedSession } from './find-session.ts'
import { writeOutputFile } from './output-file.ts'
import { print, printJsonText, tell } from './print.ts'

/** The options of `agent evidence`. */
export type EvidenceOptions = { readonly output: string; readonly key: string }

/** The options of `agent evidence verify`. */
export type VerifyOptions = {
  readonly tree?: readonly string[]
  readonly patch?: string
  readonly publicKey?: readonly string[]
  /** What must be true of the run besides. Default: nothing. */
  readonly require?: readonly Requirement[]
}

const [largestKey, largestEvidence, largestPatch] = [64 * 1024, 256 * 1024 * 1024, 1024 * 1024 * 1024]

/** The maximum number of differences that are reported. */
const mostFaults = 20

/** `agent evidence`: writes a signed statement about a run: its changes, its rules and its verification. */
export async function evidenceCommand(run: NamedRun, { output, key }: EvidenceOptions): Promise<number> {
  const session = findChangedSession(run)
  const signer = readPrivateKey(textOf(key, largestKey, 'the key'), key)
  const record = await recordOf(session)
  const facts = await factsOf(session.directory)
  const unchanged = await unchangedOf(session, record, output)
  const { began, landings } = session.state
  if (landings.some(({ at }) => at < began)) {
    tell(`The session also landed changes before ${began}; the evidence is about those made since then.`)
  }
  if (isAllReverted(session.state))
    tell('The changes were reverted, so they are not in the tree; the evidence says so.')
  const known = { facts, unchanged, at: new Date() }
  const statement = makeStatement(session.directory, session.state, record, known)
  const sealed = sealStatement(statement, signer)
  for (const policy of policiesOf(statement))
    tell(`policy ${policy}, which agent evidence verify --require policy=HASH checks`)
  if (output === '-') printJsonText(sealed)
  else writeOutputFile(output, sealed, 'the evidence')
  return exitCodes.done
}

/**
 * Returns the unchanged files in each of the run's trees; undefined for a tree whose files can't be listed. Reports on standard error which trees
 * these are, how many files the evidence leaves out, and how many files were written after the run; for the latter, the evidence records the current
 * content.
 */
async function unchangedOf(
  { directory, state }: ChangedSession,
  record: ChangeRecord,
  output: string,
): Promise<readonly (UnchangedFiles | undefined)[]> {
  const found: (UnchangedFiles | undefined)[] = []
  for (const { path } of state.roots) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
      found.push(undefined)
      for (const note of notesOn(undefined)) tell(`${path}: ${note}`)
      continue
    }
    const sandbox = await openSandbox(parsePolicy({ mode: 'read-only', workspace: path }), sandboxOfLastRun(directory))
    try {
      const except = new Set(record.changes.filter(({ root }) => root === path).map((change) => change.path))
      // The evidence file itself is left out: it may be in the tree and replace an older one, but it can't contain its own hash.
      except.add(relative(path, resolve(output)))
      const unchanged = await unchangedFiles(path, { except, sandbox, since: new Date(record.at) })
      found.push(unchanged)
      for (const note of notesOn(unchanged)) tell(`${path}: ${note}`)
    } finally {
      await sandbox.close()
    }
  }
  return found
}

function notesOn(unchanged: UnchangedFiles | undefined): readonly string[] {
  if (unchanged === undefined) {
    return ['its source files could not be listed, so the evidence contains only what the run changed']
  }
  const { touchedLater, leftOut } = unchanged
  return [
    ...(touchedLater > 0
      ? [
          `${counted(touchedLater, 'file that the run did not change was', 'files that the run did not change were')} modified after the run; the evidence records the current content`,
        ]
      : []),
    ...(leftOut.length > 0
      ? [
          `the evidence leaves out ${counted(leftOut.length, 'path')} (submodules, names that are not UTF-8, unreadable files)`,
        ]
      : []),
  ]
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
    record: end?.record,
    verified: (end?.verified ?? []).map(({ command, passed, exitCode, durationMs, attempts, judged }) => ({
      command,
      passed,
      exit_code: exitCode ?? null,
      duration_ms: durationMs,
      attempts,
      ...(judged === undefined ? {} : { judged }),
    })),
  }
}

/**
 * `agent evidence verify`: checks that evidence is intact and signed. If a patch, trees or public keys are given, it also checks that the evidence
 * belongs to the patch and the trees, and is signed with one of the keys. It downloads nothing.
 */
export function verifyEvidence(
  file: string,
  { tree = [], patch, publicKey = [], require = [] }: VerifyOptions,
): number {
  const trusted = publicKey.map((each) => readPublicKey(textOf(each, largestKey, 'the public key'), each))
  const opened = openEnvelope(textOf(file, largestEvidence, 'the evidence'), trusted)
  if (opened.type === 'broken') return tellFaults([`${file}: ${opened.why}`])
  const { statement, keyId, isTrusted } = opened
  const unmet = require.flatMap((wanted) => requirementFaults(statement, wanted))
  const faults = [...patchFaults(statement, patch), ...treeFaults(statement, tree), ...unmet]
  if (faults.length > 0) return tellFaults(faults)
  const { predicate } = statement
  const whose = isTrusted
    ? keyId
    : `${keyId}, a key that was not checked: name the key that you expect with --public-key`
  const known = [
    ...(patch === undefined ? [] : ['the patch']),
    ...(tree.length === 0 ? [] : heldOf(predicate)),
    ...require,
  ]
  print(`${file}: intact, signed by ${whose}`)
  const held =
    known.length === 0 ? 'nothing else was compared: give --tree or --patch' : `confirmed: ${known.join(', ')}`
  const reverted = predicate.transaction.state === 'reverted' ? ', whose changes had been reverted' : ''
  print(`session ${predicate.session}${reverted}, ${held}`)
  for (const policy of policiesOf(statement)) print(`policy ${policy}`)
  return exitCodes.done
}

function heldOf({ trees }: Statement['predicate']): readonly string[] {
  const changed = trees.flatMap(({ files }) => files).length
  const unchanged = trees.flatMap(({ unchanged_files }) => unchanged_files ?? []).length
  const leftOut = trees.flatMap(({ left_out }) => left_out)
  const isWhole = trees.every(({ unchanged_files }) => unchanged_files !== null)
  const except =
    leftOut.length === 0 ? '' : ` (not counting ${counted(leftOut.length, 'path')} that the evidence does not cover)`
  const rest = isWhole
    ? `${counted(unchanged, 'source file')} that the run did not change${except}`
    : 'but not all source files, because the evidence does not list them'
  return [`${counted(changed, 'path')} that the run changed`, rest]
}

function patchFaults({ subject }: Statement, patch: string | undefined): readonly string[] {
  if (patch === undefined) return []
  const bytes = bytesOf(patch, largestPatch, 'the patch')
  const hash = createHash('sha256').update(bytes).digest('hex')
  const isIt = subject.some(({ digest }) => 'sha256' in digest && digest.sha256 === hash)
  return isIt ? [] : [`${patch}: not the patch that the evidence describes`]
}

function treeFaults({ predicate }: Statement, trees: readonly string[]): readonly string[] {
  if (trees.length === 0) return []
  if (trees.length !== predicate.trees.length) {
    const message = `The evidence covers ${counted(predicate.trees.length, 'tree')}, but --tree was given ${counted(trees.length, 'time')}. Give --tree once for each tree, in the order in which the evidence lists the trees.`
    throw new UserError('usage', message)
  }
  return trees.flatMap((tree, index) => {
    if (statSync(tree, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new UserError('usage', `--tree ${tree}: there is no such directory.`)
    }
    const { files = [], unchanged_files: unchanged } = predicate.trees[index] ?? {}
    return differencesIn(resolve(tree), [...files, ...(unchanged ?? [])])
  })
}

function tellFaults(faults: readonly string[]): number {
  print(...faults.slice(0, mostFaults))
  if (faults.length > mostFaults) print(`and ${faults.length - mostFaults} more`)
  return exitCodes.failed
}

function textOf(file: string, most: number, what: string): string {
  return bytesOf(file, most, what).toString('utf8')
}

/**
 * Reads a file of at most `most` bytes.
 *
 * @param what the name of the content, for the message
 * @throws UserError `usage` if the file can't be read
 */
function bytesOf(file: string, most: number, what: string): Buffer {
  const bytes = readHostFile(file, { maxBytes: most })
  if (bytes !== undefined) return bytes
  throw new UserError(
    'usage',
    `${file}: ${what} can't be read: it doesn't exist, is not a file, is too large, or you don't have permission to read it.`,
  )
}
