import type { RunSummary } from '../core/events.ts'
import type { OutsideEffect, TransactionReport } from '../core/run-summary.ts'
import { shellJoin } from '../core/text/shell-join.ts'
import type { Style } from './style.ts'

type Told = Pick<RunSummary, 'transaction'>

/** Whether a transaction ended as intended: its changes landed, or there were none. */
export function landedWell({ transaction }: Told): boolean {
  return transaction?.outcome === 'landed' || transaction?.outcome === 'nothing'
}

/** Formats the result of a run that is a transaction: whether its changes landed, which of them did not, and what the user can do next. */
export function transactionLines({ transaction }: Told, shorten: Style['shorten']): readonly string[] {
  if (transaction === undefined) return []
  const {
    outcome,
    tree,
    merged,
    conflicts,
    ignored,
    not_landed: apart,
    commits,
    refs = [],
    refs_not_landed: left = [],
    outside,
    repositories,
    can_undo: canUndo,
    notes = [],
    run: id,
  } = transaction
  const names = (paths: readonly string[]): string => named(paths.map((path) => shorten(path).replaceAll('\n', '⏎')))
  const kept = ignored.landed ? 'landed too' : 'not landed'
  const revert = outcome === 'landed' && canUndo ? `; to revert them, run "agent undo ${id}"` : ''
  return [
    `  transaction (${transaction.strategy}): ${heads[tree ?? outcome]}${revert}`,
    ...(merged.length === 0 ? [] : [`    merged with somebody else's changes: ${names(merged)}`]),
    ...conflicts.slice(0, mostNamed).map(({ path, why }) => `    conflict: ${shorten(path)}: ${why}`),
    ...notes.slice(0, mostNamed).map((note) => `    note: ${note.replaceAll('\n', '⏎')}`),
    ...(ignored.files === 0 ? [] : [`    files that git ignores (${kept}): ${ignored.files}`]),
    ...(outside.length === 0
      ? []
      : [`    effects outside the transaction, which can't be undone: ${outsideWords(outside)}`]),
    ...(apart.length === 0 ? [] : [`    files that never land: ${names(apart)}`]),
    ...commitLines(commits).map((line) => `    ${line}`),
    ...refLines(refs, left).map((line) => `    ${line}`),
    ...repositories.flatMap(({ path, kept, branch, why, refs: changed = [] }) => [
      ...(changed.length === 0 ? [] : [`    not landed in ${shorten(path)}: ${refNames(changed)}`]),
      `    commits in ${shorten(path)} did not land${why === undefined ? '' : ` (${why})`}; to fetch them: ${fetchCommand(kept, branch ?? usualBranch(id))}`,
    ]),
    ...(outcome === 'landed' || outcome === 'nothing'
      ? []
      : [
          `    look at the changes: agent changes ${id} --diff; land them: agent apply ${id}; discard them: agent discard ${id}`,
        ]),
  ]
}

/**
 * The command that fetches the commits of a session's view into separate branches.
 *
 * @param branch the full name with which the names of these branches begin
 */
export function fetchCommand(kept: string, branch: string): string {
  return shellJoin(['git', 'fetch', kept, 'HEAD', `refs/heads/*:${branch}-*`])
}

/** The full name of the branch for the commits of a session, in repositories that have no branch `portcullis`. */
const usualBranch = (id: string): string => `refs/heads/portcullis/${id}`

const kinds: Readonly<Record<OutsideEffect['kind'], string>> = {
  ...{ host: 'hosts', 'mcp-server': 'MCP servers', hook: 'hooks', cache: 'package caches' },
  ...{ 'docker-socket': "docker's socket", 'web-search': 'web searches', money: 'money' },
}

/** Lists what is not part of a transaction, by kind. */
export function outsideWords(outside: readonly OutsideEffect[]): string {
  const words = Object.entries(kinds).flatMap(([kind, name]) => {
    const ofKind = outside.filter((each) => each.kind === kind).map(({ what }) => what.replaceAll('\n', '⏎'))
    if (ofKind.length === 0) return []
    return [kind === 'docker-socket' ? name : `${name} (${named(ofKind)})`]
  })
  return words.join(', ')
}

/** Says where the commits of a run are, one line per repository. */
export function commitLines(commits: Readonly<TransactionReport['commits']>): readonly string[] {
  return commits.map(({ ref, commit, moved, stayed }) => `commits: ${commitWords(ref, commit, moved?.branch, stayed)}`)
}

function commitWords(ref: string | undefined, commit: string, moved: string | undefined, stayed: string | undefined) {
  if (ref === undefined) return `${refName(moved ?? 'HEAD')} moved to ${commit.slice(0, 12)}`
  if (moved !== undefined) return `on ${refName(moved)} and on the branch ${refName(ref)}`
  return `on the branch ${refName(ref)}${stayed === undefined ? '' : `; the checked-out branch was not moved: ${stayed}`}`
}

/** Says which of the refs that the run changed landed under their own names, and which did not. */
export function refLines(
  landed: Readonly<NonNullable<TransactionReport['refs']>>,
  kept: Readonly<NonNullable<TransactionReport['refs_not_landed']>>,
): readonly string[] {
  const reasons = [...new Set(kept.map(({ why }) => why))]
  return [
    ...(landed.length === 0 ? [] : [`refs that landed: ${refNames(landed.map(({ ref }) => ref))}`]),
    ...reasons.map((why) => {
      const names = kept.filter((each) => each.why === why).map(({ ref }) => ref)
      return `refs that did not land: ${refNames(names)} (${why})`
    }),
  ]
}

/** Names refs, in one line. */
export function refNames(refs: readonly string[]): string {
  return named(refs.map(refName))
}

/** The name of a branch, or the kind and name of another ref. */
function refName(ref: string): string {
  return ref
    .replace(/^refs\/heads\//, '')
    .replace(/^refs\/tags\//, 'tag ')
    .replace(/^refs\/notes\//, 'notes ')
    .replace(/^refs\/stash$/, 'stash')
}

const heads = {
  landed: 'all changes are in the workspace',
  nothing: 'there was nothing to land',
  kept: 'nothing landed, and the workspace is unchanged',
  conflict: 'nothing landed, and the workspace is unchanged',
  failed: 'nothing landed, and the workspace is unchanged',
  'left-over': 'nothing landed, but temporary files that could not be removed stay in the workspace',
  incomplete:
    'the landing failed, and the workspace may contain some of the changes; to restore it, run "apply-patch recover" there',
} as const

/** The maximum number of entries that are shown of a list. If the entries are names, the number of the others follows. */
const mostNamed = 20

function named(words: readonly string[]): string {
  const more = words.length - mostNamed
  return [...words.slice(0, mostNamed), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}
