import type { Alarm } from './facts.ts'
import type { Place } from './place.ts'
import { coversSensitive, findSensitive } from './sensitive-paths.ts'
import type { ShellWord } from './shell-word.ts'
import { unlistedAt } from './unlisted-files.ts'

type Visitor = {
  /** The words without the options that precede the subcommand: `git push` for `git -C dir push`. Set only for git. */
  readonly bare?: readonly ShellWord[] | undefined
  readonly reads?: readonly ShellWord[]
  /** Folders that the command traverses. */
  readonly trees?: readonly ShellWord[]
}

/**
 * The alarms about a command that come from the folders in which it may run: its paths may lead to credentials there. In another folder than the one
 * in which the line starts, git may also work on a different repository, whose configuration can run programs and may have come with the workspace.
 */
export function alarmsAt(place: Place, start: Place, { bare, reads = [], trees = [] }: Visitor): readonly Alarm[] {
  const alarms = place.folders.flatMap((folder) => {
    if (folder === '') return []
    const isPattern = /[*?[]/.test(folder ?? '')
    const of = (word: ShellWord): string =>
      place.locate(folder, word.kind === 'dynamic' ? word.prefix : word.text) ?? ''
    const secret = reads.find((word) => findSensitive(of(word), isPattern || word.kind === 'glob') !== undefined)
    const covering = trees.find((word) => coversSensitive(of(word)))
    return [
      ...(secret === undefined ? [] : [said(secret, `credentials are stored in ${of(secret)}`)]),
      ...(covering === undefined ? [] : [said(covering, `credentials are stored below ${of(covering)}`)]),
    ]
  })
  const isElsewhere = place.folders.some((folder) => folder !== '' && !start.folders.includes(folder))
  const reason = 'the line changes to another folder, and git then works on the repository there'
  const other: Alarm = { kind: 'other-repository', reason }
  return [...alarms, ...unlistedAt(place, [...reads, ...trees]), ...(bare !== undefined && isElsewhere ? [other] : [])]
}

function said(file: ShellWord, reason: string): Alarm {
  return { kind: 'secret', reason, file }
}
