/**
 * Applies patches of the `*** Begin Patch` format to a tree, completely or not at all.
 *
 * `applyPatch` does this in one call. Alternatively, `parsePatch` reads the text, `planPatch` computes all new contents without changing anything,
 * and `commit` carries out the plan.
 */
export { applyPatch } from './apply-patch.ts'
export type * from './change-set.ts'
export type * from './patch.ts'
export {
  PatchError,
  type Cause,
  type DifferenceFailure,
  type Failure,
  type MalformedFailure,
  type Nearest,
  type PlaceFailure,
  type SeekFailure,
} from './patch-error.ts'
export {
  commitChangeSet as commit,
  isApplied,
  lastApplied,
  recover,
  transactionsInProgress,
  undo,
  CommitError,
  PathError,
  ReadError,
  type CommitErrorCode,
  type CommitFacts,
  type CommitOptions,
  type OtherRun,
  type PathErrorCode,
  type RecoverOptions,
  type RecoveryReport,
  type Report,
} from './files/index.ts'
export { formatPatch } from './format-patch.ts'
export { parsePatch } from './parse/parse-patch.ts'
export { patchGrammar } from './patch-grammar.ts'
export { withoutDiffPrefixes, withoutPrefix } from './plan/diff-prefixes.ts'
export { planPatch, type PlanOptions } from './plan/plan-patch.ts'
export { planWrite } from './plan/plan-write.ts'
export {
  createStreamingParser,
  type StreamedChunk,
  type StreamedOperation,
  type StreamingParser,
} from './streaming-parser.ts'
export { gitPatch, type GitSide } from './transform/git-patch.ts'
export { hunksOf, withHunks } from './transform/hunks.ts'
export { mergeText } from './transform/merge-text.ts'
export {
  isClaimAlive,
  isProcessAlive,
  openTree,
  startOf,
  tryToLock,
  writeChunks,
  type Alongside,
  type Claim,
  type Tree,
} from './files/index.ts'
export { diffLines } from './transform/diff-lines.ts'
export { findRenames } from './transform/find-renames.ts'
export { diffToPatch } from './transform/diff-to-patch.ts'
export type { FilePair } from './transform/file-pair.ts'
export { renderFailure } from './render/render-failure.ts'
export { renderSummary } from './render/render-summary.ts'
export { reversePatch } from './transform/reverse-patch.ts'
export { unifiedDiff } from './transform/unified-diff.ts'
