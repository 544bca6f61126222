import type { RunSummary } from '../events.ts'
import type { OutsideEffect, TransactionReport } from '../run-summary.ts'
import { counted } from './counted.ts'
import { shellJoin } from './shell-join.ts'

type Told = Pick<RunSummary, 'transaction'>

/** Whether a transaction ended as intended: its changes landed, or there were none. */
export function landedWell({ transaction }: Told): boolean {
  return transaction?.outcome === 'landed' || transaction?.outcome === 'nothing'
}

/** Whether everything is in the workspace as the run left it, or as its commits, so that there is nothing to say. */
export function landedWhole({ transaction }: Told): boolean {
  if (transaction === undefined) return true
  const { merged, conflicts, not_landed: apart, left_out: leftOut, refs_not_landed: refs } = transaction
  const others = [merged, conflicts, apart, leftOut, refs, transaction.repositories, transaction.notes]
  return landedWell({ transaction }) && others.every((list) => list === undefined || list.length === 0)
}

/** Formats the result of a run that is a transaction: whether its changes landed, which of them did not, and what the user can do next. */
export function transactionLines({ transaction }: Told, shorten: (path: string) => string): readonly string[] {
  if (transaction === undefined) return []
  const {
    outcome,
    tree,
    merged,
    conflicts,
    ignored,
    not_landed: apart,
    left_out: leftOut = [],
    commits,
    staged,
    new_repositories: made = [],
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
    ...leftOut
      .slice(0, mostNamed)
      .map(({ path, why }) => `    left out: ${shorten(path).replaceAll('\n', '⏎')}: ${why}`),
    ...commitLines(commits).map((line) => `    ${line}`),
    ...(made.length === 0 ? [] : [`    new repositories, without settings and hooks: ${names(made)}`]),
    ...stagedLines(staged).map((line) => `    ${line}`),
    ...refLines(refs, left).map((line) => `    ${line}`),
    ...repositories.slice(0, mostNamed).flatMap((each) => repositoryLines(each, shorten(each.path), id)),
    ...(repositories.length > mostNamed
      ? [`    and nothing of ${repositories.length - mostNamed} more repositories`]
      : []),
    ...(outcome === 'landed' || outcome === 'nothing'
      ? []
      : [
          `    look at the changes: agent changes ${id} --diff; land them: agent apply ${id}; discard them: agent discard ${id}`,
        ]),
  ]
}

/** The command that fetches the commits of a session's view into refs of the session. */
export function fetchCommand(kept: string, id: string): string {
  return shellJoin([
    'git',
    'fetch',
    kept,
    `HEAD:refs/portcullis/${id}/HEAD`,
    `refs/heads/*:refs/portcullis/${id}/heads/*`,
  ])
}

const kinds: Readonly<Record<OutsideEffect['kind'], string>> = {
  ...{ host: 'hosts', service: 'services', 'mcp-server': 'MCP servers', hook: 'hooks', cache: 'package caches' },
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
  return commits.map((each) => `commits: ${commitWords(each)}`)
}

function commitWords({ ref, commit, moved, stayed }: TransactionReport['commits'][number]): string {
  const at = commit.slice(0, 12)
  if (moved?.from !== undefined) return `on the new branch ${refName(moved.branch)} (${at}), which is checked out now`
  if (moved !== undefined) return `${refName(moved.branch)} moved to ${at}`
  const place = ref ?? at
  return stayed === undefined ? `kept in ${place}` : `kept in ${place}; the checked-out branch did not move: ${stayed}`
}

/** Says how many paths were staged. */
export function stagedLines(staged: number | undefined): readonly string[] {
  return staged === undefined || staged === 0 ? [] : [`staged: ${counted(staged, 'path')}`]
}

/** Says which new branches landed, and which refs stayed as they are, each with the command that changes it. */
export function refLines(
  landed: Readonly<NonNullable<TransactionReport['refs']>>,
  kept: Readonly<NonNullable<TransactionReport['refs_not_landed']>>,
): readonly string[] {
  const branches = landed.map(({ ref }) => ref).filter((ref) => ref.startsWith('refs/heads/'))
  const more = kept.length - mostNamed
  return [
    ...(branches.length === 0 ? [] : [`new branches: ${refNames(branches)}`]),
    ...kept
      .slice(0, mostNamed)
      .map(
        ({ ref, why, command }) => `not landed: ${refName(ref)} (${why})${command === undefined ? '' : `: ${command}`}`,
      ),
    ...(more > 0 ? [`and ${more} more refs did not land`] : []),
  ]
}

function repositoryLines(
  { kept, why, is_new: isNew, refs = [] }: TransactionReport['repositories'][number],
  shown: string,
  id: string,
): readonly string[] {
  const reason = why === undefined ? '' : ` (${why.replaceAll('\n', '⏎')})`
  if (isNew) return [`    the new repository in ${shown} did not land${reason}; it is in ${kept}`]
  return [
    ...(refs.length === 0 ? [] : [`    not landed in ${shown}: ${refNames(refs)}`]),
    `    commits in ${shown} did not land${reason}; to fetch them: ${fetchCommand(kept, id)}`,
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
