import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { RunRecord, Verified } from '../../core/run-record.ts'
import { version } from '../../core/version.ts'
import { notIgnored, renderPatch, type ChangeRecord, type RunChange } from '../change-record.ts'
import { headOf } from '../heads.ts'
import { isAllReverted, type ViewState } from '../view-state.ts'
import { readDecidedBy } from './decided-by.ts'
import { predicateType, statementType, type FileAfter, type Statement } from './statement.ts'
import type { UnchangedFiles } from './unchanged-files.ts'

/** The facts found in the events of a session's last run. A field is undefined if the fact is unknown. */
export type RunFacts = {
  readonly model: string | undefined
  readonly result: string | undefined
  readonly exitCode: number | undefined
  readonly costUsd: number | undefined
  readonly auditHead: string | undefined
  readonly verified: readonly Verified[]
  readonly record: RunRecord | undefined
}

/** What a statement needs besides the session's changes. */
type Known = {
  readonly facts: RunFacts
  /** For each tree, in order: the files that the run left unchanged; undefined if they could not be listed. */
  readonly unchanged: readonly (UnchangedFiles | undefined)[]
  readonly at: Date
}

/**
 * Builds the statement about a session's changes: the changes, their base, the program and model that made them, and the rules under which they were made.
 */
export function makeStatement(
  directory: string,
  state: ViewState,
  record: ChangeRecord,
  { facts, unchanged, at }: Known,
): Statement {
  const patch = renderPatch(directory, notIgnored(record))
  const commits = state.roots.flatMap(({ path }, index) => {
    const { commit, branch = '' } = headOf(directory, path) ?? {}
    const name = `base ${index + 1} ${branch}`.trimEnd()
    return commit === undefined ? [] : [{ name, digest: { gitCommit: commit } }]
  })
  const { model, result, exitCode, costUsd, auditHead, verified, record: did } = facts
  return {
    _type: statementType,
    subject: [
      { name: 'changes.patch', digest: { sha256: createHash('sha256').update(patch).digest('hex') } },
      ...commits,
    ],
    predicateType,
    predicate: {
      version,
      session: basename(directory),
      at: at.toISOString(),
      model: model ?? null,
      result: result ?? null,
      exit_code: exitCode ?? null,
      cost_usd: costUsd ?? null,
      audit_head: auditHead ?? null,
      verified: [...verified],
      record: did ?? null,
      decided_by: [...readDecidedBy(directory)],
      transaction: {
        strategy: state.strategy,
        state: isAllReverted(state) ? 'reverted' : state.state,
        since: state.began,
      },
      trees: state.roots.map(({ path }, index) => {
        const changes = notIgnored(record).filter(({ root }) => root === path)
        const known = unchanged[index]
        const unreadable = changes.filter(({ after }) => after.type === 'file' && after.hash === null)
        return {
          files: changes.flatMap((change) => fileAfter(change)),
          unchanged_files: known === undefined ? null : [...known.files],
          left_out: [...unreadable.map((change) => change.path), ...(known?.leftOut ?? [])],
        }
      }),
    },
  }
}

function fileAfter({ path, after }: RunChange): readonly FileAfter[] {
  switch (after.type) {
    case 'absent':
      return [{ path, type: 'absent' }]
    case 'directory':
      return [{ path, type: 'directory', mode: after.mode }]
    case 'symlink':
      return [{ path, type: 'symlink', target: after.target }]
    case 'file':
      return after.hash === null ? [] : [{ path, type: 'file', sha256: after.hash, mode: after.mode }]
    default:
      return after satisfies never
  }
}
