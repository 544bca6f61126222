import type { CommitError, Difference } from '../files/index.ts'
import { shellQuote } from '../text/shell-quote.ts'
import { errnoText } from './errno-text.ts'

type Facts = CommitError['facts']

/** The message for a commit, recovery or undo that did not happen. If Codex has a message for this case, the first line has Codex's wording. */
export function renderCommitError({ code, facts, tree }: CommitError): string {
  const lines = [headline(code, facts, facts.key ?? facts.path ?? '')]
  if (facts.errno !== undefined && code !== 'unrecoverable') {
    lines.push(`  ${[facts.syscall, errnoText(facts.errno)].filter((part) => part !== undefined).join(': ')}`)
  }
  const since = facts.operation === 'undo' ? 'since the patch was applied' : 'since the patch was planned'
  for (const { path, how } of facts.differences ?? []) lines.push(`  ${path}: ${changeText(how)} ${since}`)
  for (const { path, reason } of facts.tried ?? []) lines.push(`  tried ${path}: ${errnoText(reason)}`)
  for (const path of facts.remains ?? []) lines.push(`  not restored: ${path}`)
  lines.push(...advice(code, facts), tree === 'unchanged' ? unchanged(facts) : toRecover(code, facts))
  // A file's name must not fake a line.
  return lines.map((line) => line.replaceAll('\n', '⏎')).join('\n')
}

function headline(code: CommitError['code'], facts: Facts, where: string): string {
  const changed = facts.differences?.map(({ path }) => path).join(', ') ?? where
  switch (code) {
    case 'changed':
      return facts.operation === 'undo'
        ? `Failed to revert the patch; these files were changed after it was applied: ${changed}`
        : `Files changed since the patch was planned; plan it again: ${changed}`
    case 'read-only':
    case 'unsupported':
      return `Failed to write file ${where}`
    case 'system':
      if (facts.operation === 'remove') return `Failed to delete file ${where}`
      if (facts.operation === 'undo') return `Failed to read file ${where}`
      if (facts.operation === 'journal') return `Failed to write the journal ${where}`.trimEnd()
      return where === '' ? 'A system call failed' : `Failed to write file ${where}`
    case 'aborted':
      return 'Interrupted.'
    case 'busy':
      return `Another run${facts.process === undefined ? '' : ` (process ${facts.process})`} is changing ${where}; try again when it has ended`
    case 'no-state-directory':
      return 'No folder can hold the journal; set XDG_STATE_HOME to a folder that you can write to, or make space (apply-patch prune)'
    case 'unrecoverable':
      if (facts.operation === 'undo') return 'Failed to revert the patch: its journal is damaged'
      return `A crashed run can't be recovered: ${facts.remains === undefined ? 'its journal is damaged' : "files were changed after the crash, or can't be reached"}`
    case 'nothing-to-undo':
      return `There is no applied patch to revert in ${where}`
    default:
      return code satisfies never
  }
}

function changeText(how: Difference): string {
  switch (how) {
    case 'appeared':
      return 'it was created'
    case 'vanished':
      return 'it was removed'
    case 'kind':
      return 'its type was changed (to a file, a link or a directory)'
    case 'mode':
      return 'its mode was changed'
    case 'owner':
      return 'its owner was changed'
    case 'identity':
      return 'it was replaced'
    case 'time':
      return 'it was written to'
    case 'size':
    case 'content':
      return 'its content was changed'
    default:
      return how satisfies never
  }
}

const heldText = {
  sticky:
    'it belongs to another user, and its directory has the sticky bit, so only its owner, the owner of the directory or root may replace it',
  fixed: 'it or its directory is append-only or immutable (see lsattr), so nobody may replace it',
  listed:
    'it has an access control list, which its new version would lose; install the package "attr" or "acl", or remove the list (setfacl -b)',
} as const

/** Advice for the user, if the first line of the message doesn't contain any. */
function advice(code: CommitError['code'], facts: Facts): readonly string[] {
  const byText =
    '"apply-patch --reverse < FILE" reverts the text of a patch (for a diff, "git apply --reverse FILE"), and keeps other changes'
  switch (code) {
    case 'changed':
      if (facts.operation !== 'undo') return []
      return [`  Restore each file to the state in which the patch left it, or keep your change: ${byText}.`]
    case 'system':
      return facts.held === undefined ? [] : [`  ${heldText[facts.held]}`]
    case 'read-only':
      return ['  the file is read-only for this user; make it writable if you want to change it']
    case 'nothing-to-undo':
      return [
        ...(facts.replaced === true
          ? ['  the last patch at this path was applied to another directory, which this one has replaced']
          : []),
        ...(facts.appliedTo === undefined
          ? []
          : [
              `  the last patch was applied to ${facts.appliedTo}: apply-patch undo --root ${shellQuote(facts.appliedTo)}`,
            ]),
      ]
    case 'unrecoverable':
      if (facts.operation === 'undo') return [`  ${byText}.`]
      if (facts.remains !== undefined) return []
      return [
        `  journal: ${facts.journal ?? ''}`,
        '  "apply-patch recover --abandon" removes the journal; first check what the crashed run has left in the tree.',
      ]
    default:
      return []
  }
}

function unchanged({ leftOver = [] }: Facts): string {
  if (leftOver.length === 0) return 'Nothing was changed.'
  return `Nothing was changed, except that temporary files could not be removed again: ${leftOver.join(', ')}`
}

/** What to do if the tree is in neither the old nor the new state. */
function toRecover(code: CommitError['code'], { journal }: Facts): string {
  const where = journal === undefined ? '' : ` (${journal})`
  if (code !== 'unrecoverable') return `Run "apply-patch recover" to repair the tree${where}.`
  return `Restore these files and run "apply-patch recover" again, or "apply-patch recover --abandon" to keep the tree as it is${where}.`
}
