export {
  backendNames,
  confiningBackend,
  factsOf,
  type Backend,
  type ConfiningBackend,
  type NamedBackend,
} from './backend.ts'
export { concealedOf } from './protected/may-read.ts'
export { protectingPlace, protectingPlaces } from './protected/may-write.ts'
export { ledTo, protectThroughLinks } from './protected/through-links.ts'
export { codeThatRunsLater, runsLater } from './protected/runs-later.ts'
export { keyFilesIn } from './protected/key-files.ts'
export { credentialPlaces, protectedPlaces } from './protected/default-places.ts'
export { protectedTable } from './protected/protected-table.ts'
export type { ProtectedPlace } from './protected/protected-place.ts'
export { doctor, isDockerUsable, renderDoctor, type BackendReport, type DoctorReport } from './check-backends.ts'
export { localDockerSocket } from './docker-socket.ts'
export { closedState } from './closed-state.ts'
export { countWithheld, inheritedVariables, looksLikeSecret, refusalOfVariable, type Withheld } from './environment.ts'
export { SandboxError, type SandboxErrorCode, type SandboxErrorData } from './sandbox-error.ts'
export { readCheckedOut, type CheckedOut, type GitDirectories } from './git/git-directories.ts'
export { operationAt } from './git/operation-state.ts'
export { objectPlaces, parseAlternates, writeAlternates } from './git/alternates.ts'
export { type ProtectedIn } from './git/judge-commits.ts'
export { planCommits, type PlannedCommits } from './git/plan-commits.ts'
export { stagedBetween, type LandedEntry, type StagingWish } from './git/plan-staging.ts'
export { emptyDirectories, remakeRepository } from './git/remake-repository.ts'
export { isRemoteUrl } from './git/remade-config.ts'
export { findOddPart, isRemadeAsItWas, stateOfRemade } from './git/remade-state.ts'
export { planGiveBack } from './git/plan-give-back.ts'
export { hasIndex, type LandedMove } from './git/plan-move.ts'
export {
  changesBetween,
  readRepositoryState,
  type RefChange,
  type RepositoryState,
  type LeftRef,
} from './git/ref-changes.ts'
export { hasCommit } from './git/store-commits.ts'
export type { MovedIndex } from './git/plan-move.ts'
export type { GitWrites } from './git/git-writes.ts'
export { configForWorktree, nestedRepositories } from './git/nested-repositories.ts'
export { targetOfGitFile } from './git/git-file.ts'
export { committedFiles, type CommittedFiles } from './git/committed-files.ts'
export { gitDirectoriesOf } from './git/repository.ts'
export { assumeUnchanged, parseIndex, type IndexEntry } from './git/index-file.ts'
export { indexOfCopy, shownIndex, type CopyStats } from './git/shown-index.ts'
export { homeDirectory } from './homes.ts'
export { faultOfVariable } from './misread-start.ts'
export { holdPlace, isThere, type HeldPlace, type Place } from './held-place.ts'
export type { KnownPlaces } from './known-places.ts'
export { makeDirectories } from './make-directories.ts'
export { holdOutput, openNewFile, openRegular, readHostFile, readNamedFile, readRegular } from './host-files.ts'
export { listEntries, type ListedEntry } from './host-paths.ts'
export { describeTree, type TreeDescription } from './tree/describe-tree.ts'
export { hostPath, hostProgram } from './host-program.ts'
export { openSandbox, type SandboxOptions } from './open-sandbox.ts'
export { realpathSync } from './host-paths.ts'
export { decodeName, decodeText, encodePath, encodeText } from './path-bytes.ts'
export { makePassingDirectory } from './run-directory.ts'
export { closedBase, closedTemporaryDirectory } from './scratch.ts'
export { removeTree } from './remove-tree.ts'
export { openTreeBudget, treeBounds, TreeTooLarge, type TreeBounds, type TreeBudget } from './tree-budget.ts'
export { setModificationTimes } from './set-times.ts'
export { matchesName } from './name-pattern.ts'
export { describeAddress, type NetworkDecision } from './network/decide-host.ts'
export { serviceInstead } from './network/host-pattern.ts'
export type { CredentialUse } from './credentials/broker.ts'
export { insideAddress, type Credential } from './credentials/credential.ts'
export type { NetworkOptions } from './network/proxy.ts'
export type { ServiceConnection } from './network/relay-services.ts'
export { faultOfServices, parseService, writeService, type Service } from './network/service.ts'
export { setLongTimeout, timeoutSignal, timerDelay, type LongTimeout } from './process/long-timeout.ts'
export { isGroupAlive } from './process/signal.ts'
export { foldersInTerminal } from './process/folders-in-terminal.ts'
export { parsePolicy, SandboxPolicy, type SandboxPolicyInput } from './sandbox-policy.ts'
export { makeFirst, type LimitName, type Remedy } from './denials/denial-remedy.ts'
export { accessDenial, accessDenials } from './denials/access.ts'
export { renderDenial } from './denials/render-denial.ts'
export type { CommandResult, OpenedSandbox, RunCommandOptions } from './run-command.ts'
export {
  areMounted,
  makeWhiteout,
  mountOptions,
  mountsBelow,
  overlayStart,
  withLookUp,
  type Overlays,
  type OverlayStart,
} from './views/overlay-view.ts'
export { shownPath, shownText, sourcePath, type View } from './views/view-paths.ts'
export type { Command, Denial, ExecResult, Sandbox, SandboxProcess, Terminal, TerminalSize } from './sandbox.ts'
