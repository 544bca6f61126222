import { quote } from '../shell.ts'
import type { RefChange } from './ref-changes.ts'

/**
 * The command with which a person can make a change to a ref that did not land.
 *
 * @param ref the ref that keeps the new value; undefined if the repository has it anyway, or if nothing has to be kept
 * @returns undefined if there is no such command
 */
export function commandFor({ name, old, now }: RefChange, ref: string | undefined): string | undefined {
  const [, kind, short = ''] = /^refs\/(heads|tags|notes|stash)\/?(.*)$/s.exec(name) ?? []
  if (name === 'HEAD') return headCommand(now, ref)
  const to = ref ?? now
  switch (kind) {
    case 'heads':
      // The work tree already has the files of the run, so only the branch and the index move.
      return to === undefined
        ? git('branch', '-D', short)
        : git('branch', ...(old === undefined ? [] : ['-f']), short, to)
    case 'tags':
      return to === undefined ? git('tag', '-d', short) : git('tag', ...(old === undefined ? [] : ['-f']), short, to)
    case 'notes':
      return to === undefined ? undefined : git('update-ref', name, to)
    case 'stash':
      return to === undefined ? undefined : git('stash', 'store', to)
    default:
      return undefined
  }
}

/** The command that moves the checked-out branch to a commit and leaves the files alone, which have landed. */
export function resetCommand(ref: string): string {
  return git('reset', ref)
}

function headCommand(now: string | undefined, ref: string | undefined): string | undefined {
  const branch = /^refs\/heads\/(.*)$/s.exec(now ?? '')?.[1]
  if (branch === undefined) return git('switch', '--detach', ref ?? now ?? 'HEAD')
  return ref === undefined ? git('switch', branch) : git('switch', '-c', branch, ref)
}

/** A command line of git. Names of refs may contain characters that a shell reads. */
function git(...words: readonly string[]): string {
  return ['git', ...words].map((word) => (/^[\w./@+-]+$/.test(word) ? word : quote(word))).join(' ')
}
