import type { Fact } from '../commands/facts.ts'
import { literal, mayBeSeveral, staticText, type ShellWord } from '../commands/shell-word.ts'
import type { Inner } from './program-table.ts'

const writes: Fact = { class: 'writes', paths: ['.git'] }
/** The fact that git may run the repository's hooks. No argument shows what they do. */
export const runsHooks: Fact = { class: 'runs-code', reason: 'git runs the hooks of the repository' }
/** The commands that git runs because they are in its arguments. */
export function commandsGiven(verb: string, args: readonly ShellWord[]): readonly Inner[] {
  const [first, ...rest] = args
  const script = (words: readonly ShellWord[]): readonly Inner[] =>
    words.every(({ kind }) => kind === 'static') && words.length > 0
      ? [{ kind: 'script', text: words.map(({ text }) => text).join(' '), shell: 'sh' }]
      : []
  if (verb === 'submodule' && first?.text === 'foreach')
    return script(rest.filter(({ text }) => !text.startsWith('--')))
  if (verb === 'bisect' && first?.text === 'run') return [{ kind: 'command', words: rest }]
  if (verb !== 'rebase') return []
  return args.flatMap(({ text }, at) => {
    const attached = /^(?:-x|--exec=)(.+)$/s.exec(text)?.[1]
    if (attached !== undefined) return script([literal(attached)])
    return /^(?:-x|--exec)$/.test(text) ? script(args.slice(at + 1, at + 2)) : []
  })
}

const runsGiven: Fact = { class: 'runs-code', reason: 'git runs the commands in its arguments' }

function loses(reason: string, extent: 'named' | 'wide' | 'remote' = 'wide'): Fact {
  return { class: 'destructive', reason, extent }
}

function connects(...more: readonly Fact[]): readonly Fact[] {
  return [{ class: 'network', hosts: [] }, ...more]
}

/** Whether the arguments contain one of the given options, even if it is bundled, abbreviated, or has an attached value. */
function has(args: readonly ShellWord[], ...options: readonly string[]): boolean {
  return args.some(({ text }) =>
    options.some((option) => {
      if (option.startsWith('--')) {
        const name = text.replace(/=.*/s, '')
        return name.length > 2 && name.startsWith('--') && option.startsWith(name)
      }
      return /^-[A-Za-z]/.test(text) && text.slice(1).includes(option.slice(1))
    }),
  )
}

/**
 * The changes that a git command makes; undefined if it isn't known to change anything. Losses of history, of other people's data, and of uncommitted
 * work beyond single files that the command names have the extent `wide`.
 */
export function gitChange(verb: string, args: readonly ShellWord[]): readonly Fact[] | undefined {
  const first = staticText(args[0]) ?? ''
  const operands = args.filter(({ text }) => !text.startsWith('-'))
  switch (verb) {
    case 'rm':
      return operands.some(isEverything) || (has(args, '-r') && has(args, '-f', '--force') && !has(args, '--cached'))
        ? [loses('git rm may delete a whole directory tree')]
        : [{ class: 'writes', paths: operands.map(({ text }) => text) }]
    case 'checkout-index':
      return [has(args, '-f', '--force') ? loses('git checkout-index overwrites uncommitted work') : writes]
    case 'read-tree':
      return [has(args, '-u', '--reset') ? loses('git read-tree overwrites uncommitted work') : writes]
    case 'add':
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
      return [writes, runsHooks]
    case 'rebase':
      return [writes, runsHooks, ...(has(args, '-x', '--exec', '-i') ? [runsGiven] : [])]
    case 'checkout':
      if (has(args, '-B') && movesBranch(args)) return [runsHooks, loses('git checkout moves a branch')]
      return has(args, '-b', '-B', '--orphan') && !has(args, '-f', '--force')
        ? [writes, runsHooks]
        : [runsHooks, discards(args, verb)]
    case 'switch':
      if (has(args, '-C', '--force-create') && movesBranch(args)) return [runsHooks, loses('git switch moves a branch')]
      return has(args, '-f', '--force', '--discard-changes')
        ? [runsHooks, loses('git switch discards uncommitted work')]
        : [writes, runsHooks]
    case 'restore':
      return has(args, '--staged', '-S') && !has(args, '--worktree', '-W') ? [writes] : [discards(args, verb)]
    case 'reset':
      return has(args, '--hard', '--merge', '--keep') || args.some(isPrinted)
        ? [loses('git reset discards uncommitted work')]
        : [writes]
    case 'clean':
      return has(args, '-n', '--dry-run') ? [writes] : [loses('git clean deletes files that git does not track')]
    case 'stash':
      if (first === 'drop' || first === 'clear') return [loses('git stash deletes stashed work')]
      return first === 'list' || first === 'show' ? undefined : [writes]
    case 'branch':
      if (has(args, '-D', '-M', '-C', '-f', '--force'))
        return [loses('git branch may lose commits that only the branch has')]
      if (has(args, '-d', '--delete')) return [loses('git branch deletes a branch', extentOf(operands))]
      return has(args, '-m', '--move', '-c', '-u', '--set-upstream-to', '--unset-upstream') ? [writes] : undefined
    case 'tag':
      return has(args, '-d', '--delete') ? [loses('git tag deletes a tag', extentOf(operands))] : undefined
    case 'worktree':
      return first === 'list'
        ? undefined
        : [
            first === 'remove'
              ? loses('git worktree removes a worktree', has(args, '-f', '--force') ? 'wide' : 'named')
              : writes,
          ]
    case 'reflog':
      return first === 'expire' || first === 'delete'
        ? [loses('git reflog deletes what could still be recovered')]
        : undefined
    case 'gc':
    case 'prune':
    case 'repack':
      return [has(args, '--prune') || verb === 'prune' ? loses('git deletes what could still be recovered') : writes]
    case 'filter-branch':
    case 'filter-repo':
    case 'replace':
      return [loses('git rewrites history'), runsHooks, ...(verb === 'replace' ? [] : [runsGiven])]
    case 'update-ref':
      return [loses('git moves or deletes a reference')]
    case 'push':
      return connects(runsHooks, ...pushLosses(args, operands))
    case 'fetch':
    case 'pull':
    case 'clone':
      return connects(writes, runsHooks)
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
      if (/^(?:deinit|update)$/.test(first) && has(args, '-f', '--force'))
        return connects(loses('git submodule discards uncommitted work'), runsHooks)
      return first === 'status' ? undefined : connects(writes, runsHooks, ...(first === 'foreach' ? [runsGiven] : []))
    case 'bisect':
      return first === 'log' ? undefined : [writes, runsHooks, ...(first === 'run' ? [runsGiven] : [])]
    case 'difftool':
    case 'mergetool':
    case 'hook':
    case 'maintenance':
      return [{ class: 'runs-code', reason: `git ${verb} runs programs that the configuration names` }]
    default:
      return undefined
  }
}

/** Whether `git checkout -B` or `git switch -C` gets a place to which it moves the branch, after the branch's name. */
function movesBranch(args: readonly ShellWord[]): boolean {
  const isAttached = args.some(({ text }) => /^(?:-[A-Za-z]*[BC].|--force-\w+=)/.test(text))
  return args.filter(({ text }) => !text.startsWith('-')).length > (isAttached ? 0 : 1)
}

/** What is lost if git deletes the named things: a word that stands for any number of names may name all of them. */
function extentOf(operands: readonly ShellWord[]): 'named' | 'wide' {
  return operands.some(mayBeSeveral) ? 'wide' : 'named'
}

/** Whether a path may stand for the whole working tree. */
function isEverything({ kind, text }: ShellWord): boolean {
  return kind !== 'static' || /^(?:\.{1,2}\/*|:\/?|\*)$/.test(text)
}

/** The loss caused by `git checkout PATH` and `git restore PATH`, which throw away uncommitted changes. Switching to a branch keeps them. */
function discards(args: readonly ShellWord[], verb: string): Fact {
  const paths = args.filter(({ text }) => !text.startsWith('-'))
  const wide =
    pathsOf(args, verb).some(isFolder) ||
    paths.some((word) => !(paths.length === 1 && isRevision(word)) && isEverything(word)) ||
    has(args, '-f', '--force', '--pathspec-from-file')
  const separated = args.some(({ text }) => text === '--')
  if (verb === 'checkout' && !wide && !separated && paths.length <= 1) return writes
  return loses(`git ${verb} discards uncommitted work`, wide ? 'wide' : 'named')
}

/** Whether a word that is known only at run time stands for a revision: a variable that the line doesn't set, or what git says about revisions. */
function isRevision(word: ShellWord): boolean {
  if (word.kind !== 'dynamic') return false
  const isGiven = word.from === 'environment' && word.prefix === '' && !/[/*]/.test(word.text)
  return isGiven || /^"?\$\(git (?:describe|merge-base|symbolic-ref|rev-list)[^|;&$`()]*\)"?$/.test(word.text)
}

/**
 * The words that are certainly paths: those after `--`, or, if there is no `--`, all operands. Without `--`, the first operand of `git checkout` is
 * left out, because it may be a revision.
 */
function pathsOf(args: readonly ShellWord[], verb: string): readonly ShellWord[] {
  const parting = args.findIndex(({ text }) => text === '--')
  if (parting >= 0) return args.slice(parting + 1)
  const isSource = (_: ShellWord, at: number): boolean => /^(?:-s|--source)$/.test(args[at - 1]?.text ?? '')
  const words = args.filter((word, at) => !word.text.startsWith('-') && !isSource(word, at))
  return verb === 'checkout' ? words.slice(1) : words
}

/** Whether a path looks like a folder: it ends in a slash, or its last part has no dot and doesn't begin with a capital, unlike `Makefile`. */
function isFolder({ text }: ShellWord): boolean {
  return text.endsWith('/') || /^[^A-Z.][^.]*$/.test(text.slice(text.lastIndexOf('/') + 1))
}

/** Whether a word comes from another command's output and may be an option. */
function isPrinted(word: ShellWord): boolean {
  return word.kind === 'dynamic' && !word.single && word.prefix === '' && word.from === 'commands'
}

function pushLosses(args: readonly ShellWord[], operands: readonly ShellWord[]): readonly Fact[] {
  const forced = has(args, '-f', '--force', '--mirror', '--delete', '-d', '--prune') || has(args, '--force-with-lease')
  const deleting = operands.some(({ text }) => text.startsWith(':') || text.startsWith('+'))
  return forced || deleting ? [loses('git push overwrites or deletes branches or tags on the remote', 'remote')] : []
}
