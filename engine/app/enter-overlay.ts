import { existsSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { mountsBelow, overlayStart, withLookUp, type Overlays } from '../../sandbox/index.ts'
import { rootsOf } from '../config/configured-policy.ts'
import { isLocked, type LockedFolder } from '../session/session-lock.ts'
import { lockSessionFolder } from '../session/session.ts'
import type { Beginning } from '../session/start-session.ts'
import type { CopyLimit } from '../transaction/copy-limit.ts'
import { makeMountPoints } from '../transaction/overlay/storage.ts'
import { prepareOverlays, unaskedLimit } from '../transaction/private-view.ts'
import { overlaysOfView } from '../transaction/stored-view.ts'
import { readViewState } from '../transaction/view-state.ts'
import { settleUnlocked } from '../transaction/settle-landing.ts'
import { suitsCopy } from '../transaction/suits-copy.ts'
import type { Closing } from './closing.ts'
import { recoverTree } from './recover-tree.ts'
import { shownIn, viewOf, treesOf, type Viewed } from './run-transaction.ts'

/**
 * If the run's private view of the tree is to be an overlay, restarts the program with the overlays mounted. In that case, this call doesn't return, and the
 * restarted program opens the run.
 *
 * @param closing receives functions that clean up if the run can't be opened
 * @param copied up to which size trees are copied if the user hasn't chosen
 * @returns why no overlays are mounted; undefined if they are mounted already, or if the run doesn't need any
 * @throws UserError if another process runs the session, or if no view of a tree is possible
 */
export async function enterOverlay(
  configured: Viewed,
  beginning: Beginning,
  closing: Closing,
  copied: CopyLimit = unaskedLimit,
): Promise<string | undefined> {
  const { request, settings } = configured
  const { directory, threadId } = beginning
  if (request.ownProcess?.startedFor !== undefined) {
    closing.add(() => removeUnbegun(directory))
    return undefined
  }
  if (request.start?.type === 'resume') await settleUnlocked(directory)
  const before = request.start?.type === 'resume' ? readViewState(directory) : undefined
  const wish = viewOf(request, settings)
  if (wish === undefined) return undefined
  // An overlay would not show what the workspace contains after a landing.
  if (wish.land === 'each') return 'changes that land while the run works need a copy'
  if (request.ephemeral === true)
    return 'an ephemeral run has no folder in which a restarted program could find its overlays'
  const isOpen = before?.state === 'open'
  const strategy = isOpen ? before.strategy : wish.strategy
  if (strategy === 'copy' || strategy === 'reflink') return undefined
  const trees = isOpen ? before.roots.map(({ path }) => path) : treesOf(rootsOf(settings, configured.workspace))
  const isNew = !existsSync(directory)
  const { lock, made } = lockSessionFolder(directory)
  let why: string | undefined
  try {
    if (strategy === undefined && (await suitsCopy(trees, directory, copied))) return undefined
    why = reasonAgainst(configured, trees)
    const { ownProcess } = request
    if (why !== undefined || ownProcess === undefined) return why
    const overlays =
      (isOpen ? overlaysOfView(directory, before) : undefined) ??
      (await prepare(lock.directory, trees, shownIn(settings)))
    makeMountPoints(directory, overlays, isLocked)
    why = await ownProcess.startAnew(threadId, (program) =>
      overlayStart(overlays, withLookUp(overlays.mounts, program)),
    )
    return why
  } finally {
    lock.release()
    if (isNew) rmSync(directory, { recursive: true, force: true })
    for (const each of made.toReversed()) removeIfEmpty(each)
  }
}

async function prepare(directory: LockedFolder, trees: readonly string[], shown: readonly string[]): Promise<Overlays> {
  for (const tree of trees) await recoverTree(tree)
  return prepareOverlays(directory, trees, shown)
}

function reasonAgainst({ request, settings }: Viewed, trees: readonly string[]): string | undefined {
  if (request.ownProcess === undefined)
    return 'an overlay needs a process that only this run uses, such as that of agent exec'
  if (settings.sandbox_backend === 'docker')
    return "the docker daemon can't see an overlay that is mounted for a single process"
  const [mount] = trees.flatMap(mountsBelow)
  return mount === undefined
    ? undefined
    : `${mount} is mounted in the tree, and an overlay would show the files that this mount covers`
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // Another run uses it by now.
  }
}

/** Removes an empty session whose run never started. */
function removeUnbegun(directory: string): void {
  if (readViewState(directory)?.state === 'making' && !existsSync(join(directory, 'rollout.jsonl')))
    rmSync(directory, { recursive: true, force: true })
}
