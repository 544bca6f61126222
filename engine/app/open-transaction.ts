import { rmSync } from 'node:fs'
import { areMounted, closedBase, confiningBackend } from '../../sandbox/index.ts'
import { configuredProtection, rootsOf } from '../config/configured-policy.ts'
import { UserError } from '../core/user-error.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import { noteCleanFiles } from '../transaction/overlay/note-clean-files.ts'
import { withholdSecrets } from '../transaction/overlay/withhold-secrets.ts'
import { makeView, noteInView, openOverlays } from '../transaction/private-view.ts'
import { openViewState, reopenView, type PrivateView } from '../transaction/stored-view.ts'
import type { Strategy } from '../transaction/view-state.ts'
import type { Closing } from './closing.ts'
import { recoverTree } from './recover-tree.ts'
import type { Loaded } from './stages.ts'
import { realRoots, shownIn, treesOf, viewOf, type OpenTransaction, type Viewed } from './run-transaction.ts'

type Opening = Viewed & Pick<Loaded, 'beginning' | 'noOverlay'>

/**
 * Opens the private view of a run, and its session, whose folder contains the view. If the session already has a view, the run continues in it.
 *
 * @param denied what permissions protect besides the usual places
 * @returns undefined if the run works in the workspace itself
 * @throws UserError `sandboxUnavailable` if no view is possible; `usage` if the request has options that can't be combined with a view
 */
export async function openTransaction(
  loaded: Opening,
  closing: Closing,
  denied: readonly string[] = [],
): Promise<OpenTransaction | undefined> {
  const { request, settings, workspace, beginning, noOverlay } = loaded
  const isResumed = request.start?.type === 'resume'
  const open = isResumed ? openViewState(beginning.directory) : undefined
  const wish = viewOf(request, settings)
  if (wish === undefined) return undefined
  if (open?.strategy === 'overlay' && !areMounted(open.roots.map(({ source }) => source))) {
    throw new UserError(
      'sandboxUnavailable',
      `The session's view is an overlay, which is not available in this run: ${noOverlay ?? 'it was not mounted when the run started'}.`,
    )
  }
  // An ephemeral session is removed when it is closed, together with its view.
  const passing = request.ephemeral === true ? closedBase(rootsOf(settings, workspace), confiningBackend()) : undefined
  const session = beginning.open(workspace, request.source, passing)
  closing.add(() => session.close())
  const whenClosed: OpenTransaction['whenClosed'] = []
  closing.add(async () => {
    for (const act of whenClosed) await act()
  })
  const writable = realRoots(rootsOf(settings, workspace))
  const judgedBy = {
    protected_paths: [...configuredProtection(settings), ...denied],
    with_ignored: wish.landIgnored,
    ...(request.deliversTo === undefined ? {} : { delivers_to: request.deliversTo }),
  }
  const left = isResumed ? reopenView(session.directory) : undefined
  if (left !== undefined) {
    for (const { source } of left.views) await recoverTree(source)
    const all = [...new Set([...(left.state.writable ?? []), ...writable])]
    const view = noteInView(left, { writable: all, judged_by: judgedBy })
    return { view, wish, session, resumed: true, whenClosed, noted: Promise.resolve() }
  }
  try {
    const made = (await openWithheld(session.directory)) ?? (await make(loaded, session.directory, wish.strategy))
    const view = noteInView(made, { writable, judged_by: judgedBy })
    const stop = new AbortController()
    whenClosed.push(async () => stop.abort())
    const noting = view.overlays.map((storage, index) =>
      noteCleanFiles(view.views[index]?.path ?? '', storage, stop.signal),
    )
    await Promise.all(noting.map(({ first }) => first))
    const noted = Promise.all(noting.map(({ all }) => all))
    return { view, wish, session, resumed: false, whenClosed, noted }
  } catch (error) {
    // A new session is removed, because it contains nothing that could be resumed.
    if (!isResumed) rmSync(session.directory, { recursive: true, force: true })
    throw error
  }
}

/** Opens the prepared view, whose overlays are mounted, without the files that hold secrets; undefined if there is none. */
async function openWithheld(directory: LockedFolder): Promise<PrivateView | undefined> {
  const view = openOverlays(directory)
  return view && noteInView(view, { not_shown: await withholdSecrets(view) })
}

async function make(
  { settings, workspace, noOverlay }: Opening,
  directory: LockedFolder,
  strategy: Strategy | undefined,
): Promise<PrivateView> {
  const trees = treesOf(rootsOf(settings, workspace))
  for (const tree of trees) await recoverTree(tree)
  return makeView(directory, trees, strategy, noOverlay ?? 'none was mounted when the run started', shownIn(settings))
}
