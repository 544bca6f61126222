import type { Fact } from '../commands/facts.ts'
import { staticText, type ShellWord } from '../commands/shell-word.ts'

const writes: Fact = { class: 'writes', paths: ['.git'] }
const hooks: Fact = { class: 'runs-code', reason: 'git runs the hooks of the repository' }

function loses(reason: string, extent: 'named' | 'wide' = 'wide'): Fact {
  return { class: 'destructive', reason, extent }
}

function connects(...more: readonly Fact[]): readonly Fact[] {
  return [{ class: 'network', hosts: [] }, ...more]
}

/** Whether one of the arguments is an option, bundled ones and attached values included. */
function has(args: readonly ShellWord[], ...options: readonly string[]): boolean {
  return args.some(({ text }) =>
    options.some((option) => {
      if (option.startsWith('--')) return text === option || text.startsWith(`${option}=`)
      return /^-[A-Za-z]/.test(text) && text.slice(1).includes(option.slice(1))
    }),
  )
}

/**
 * What a git command that changes something changes, or undefined for one that isn't known to. Which losses are
 * `wide`: uncommitted work, history, what others have.
 */
export function gitChange(verb: string, args: readonly ShellWord[]): readonly Fact[] | undefined {
  const first = staticText(args[0]) ?? ''
  const operands = args.filter(({ text }) => !text.startsWith('-'))
  switch (verb) {
    case 'add':
    case 'rm':
    case 'mv':
    case 'init':
    case 'update-index':
      return [{ class: 'writes', paths: operands.map(({ text }) => text) }]
    case 'commit':
    case 'merge':
    case 'cherry-pick':
    case 'revert':
    case 'am':
    case 'apply':
      return [writes, hooks]
    case 'rebase':
      return [
        writes,
        hooks,
        ...(has(args, '-x', '--exec', '-i')
          ? [{ class: 'runs-code', reason: 'git rebase runs the commands it is given' } as const]
          : []),
      ]
    case 'checkout':
      return has(args, '-b', '-B', '--orphan') && !has(args, '-f', '--force')
        ? [writes, hooks]
        : [hooks, discards(args, verb)]
    case 'switch':
      return has(args, '-f', '--force', '--discard-changes')
        ? [hooks, loses('git switch discards uncommitted work')]
        : [writes, hooks]
    case 'restore':
      return has(args, '--staged', '-S') && !has(args, '--worktree', '-W') ? [writes] : [discards(args, verb)]
    case 'reset':
      return has(args, '--hard', '--merge', '--keep') ? [loses('git reset discards uncommitted work')] : [writes]
    case 'clean':
      return has(args, '-n', '--dry-run') ? [writes] : [loses('git clean deletes every file that git does not track')]
    case 'stash':
      if (first === 'drop' || first === 'clear') return [loses('git stash throws away stashed work')]
      return first === 'list' || first === 'show' ? undefined : [writes]
    case 'branch':
      if (has(args, '-D', '-d', '--delete')) return [loses('git branch deletes a branch', 'named')]
      return has(args, '-m', '-M', '--move', '-c', '-C', '-f', '--force', '-u', '--set-upstream-to', '--unset-upstream')
        ? [writes]
        : undefined
    case 'tag':
      return has(args, '-d', '--delete') ? [loses('git tag deletes a tag', 'named')] : undefined
    case 'worktree':
      return first === 'list'
        ? undefined
        : [first === 'remove' ? loses('git worktree removes a tree', 'named') : writes]
    case 'reflog':
      return first === 'expire' || first === 'delete'
        ? [loses('git reflog throws away what could be recovered')]
        : undefined
    case 'gc':
    case 'prune':
    case 'repack':
      return [has(args, '--prune') || verb === 'prune' ? loses('git throws away what could be recovered') : writes]
    case 'filter-branch':
    case 'filter-repo':
    case 'replace':
      return [loses('git rewrites history'), hooks]
    case 'update-ref':
      return [loses('git moves or deletes a reference', 'named')]
    case 'push':
      return connects(hooks, ...pushLosses(args, operands))
    case 'fetch':
    case 'pull':
    case 'clone':
      return connects(writes, hooks)
    case 'ls-remote':
    case 'archive':
    case 'request-pull':
    case 'send-email':
      return connects()
    case 'remote':
      return ['add', 'set-url', 'remove', 'rm', 'rename', 'set-head', 'set-branches', 'prune', 'update'].includes(first)
        ? [writes]
        : first === 'show'
          ? connects()
          : undefined
    case 'submodule':
      return first === 'status' ? undefined : connects(writes, hooks)
    case 'bisect':
      return first === 'log' ? undefined : [writes, hooks]
    case 'difftool':
    case 'mergetool':
    case 'hook':
    case 'maintenance':
      return [{ class: 'runs-code', reason: `git ${verb} runs programs that the configuration names` }]
    default:
      return undefined
  }
}

/** `git checkout PATH` and `git restore PATH` throw away what isn't committed; a branch to go to keeps it. */
function discards(args: readonly ShellWord[], verb: string): Fact {
  const paths = args.filter(({ text }) => !text.startsWith('-'))
  const wide =
    paths.some(({ kind, text }) => kind !== 'static' || /^(?:\.\/*|:\/?|\*|\.\.)$/.test(text)) ||
    has(args, '-f', '--force')
  const separated = args.some(({ text }) => text === '--')
  if (verb === 'checkout' && !wide && !separated && paths.length <= 1) return writes
  return loses(`git ${verb} discards uncommitted work`, wide ? 'wide' : 'named')
}

function pushLosses(args: readonly ShellWord[], operands: readonly ShellWord[]): readonly Fact[] {
  const forced =
    has(args, '-f', '--force', '--mirror', '--delete', '-d', '--prune') ||
    args.some(({ text }) => text.startsWith('--force-with-lease'))
  const deleting = operands.some(({ text }) => text.startsWith(':') || text.startsWith('+'))
  return forced || deleting ? [loses('git push overwrites or deletes what others have')] : []
}
