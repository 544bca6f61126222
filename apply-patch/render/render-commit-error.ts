import type { CommitError } from '../files/index.ts'

/** The message for a commit, recovery or undo that did not happen; first line as Codex words it where it has one. */
export function renderCommitError({ code, facts, tree }: CommitError): string {
  const where = facts.key ?? facts.path ?? ''
  const lines = [headline(code, facts, where)]
  if (facts.errno !== undefined)
    lines.push(`  ${[facts.syscall, facts.errno].filter((part) => part !== undefined).join(': ')}`)
  for (const { path, how } of facts.differences ?? []) lines.push(`  ${path}: ${how} changed`)
  for (const { path, reason } of facts.tried ?? []) lines.push(`  tried ${path}: ${reason}`)
  if (tree === 'unchanged') lines.push('Nothing was changed.')
  else {
    for (const path of facts.remains ?? []) lines.push(`  not as it was: ${path}`)
    lines.push(
      `Run "apply-patch recover" to put the tree in order${facts.journal === undefined ? '' : ` (${facts.journal})`}.`,
    )
  }
  return lines.join('\n')
}

function headline(code: CommitError['code'], facts: CommitError['facts'], where: string): string {
  switch (code) {
    case 'changed':
      return `Files changed since the patch was planned; plan it again: ${facts.differences?.map(({ path }) => path).join(', ') ?? where}`
    case 'read-only':
      return `Failed to write file ${where}`
    case 'system':
      if (facts.operation === 'remove') return `Failed to delete file ${where}`
      return where === '' ? 'A system call failed' : `Failed to write file ${where}`
    case 'aborted':
      return 'Interrupted.'
    case 'busy':
      return `Another run is at work on ${where === '' ? 'this tree' : where}; try again`
    case 'no-state-directory':
      return 'No folder outside the tree can hold the journal; set XDG_STATE_HOME to one that can be written'
    case 'unsupported':
      return `Failed to write file ${where}`
    case 'unrecoverable':
      return 'A crashed run can not be put in order by itself: files were changed since, or its journal is damaged'
    case 'nothing-to-undo':
      return 'There is no applied patch to take back'
    default:
      return code satisfies never
  }
}
