import { basename, dirname, join } from 'node:path'
import { readPlainFile } from '../quarantine.ts'
import { sanitizeGitConfig } from './config.ts'
import { targetOfGitFile } from './linked.ts'

/** What to do with an entry of git's that a command made or changed. */
export type Judgement =
  { readonly verdict: 'harmless' } | { readonly verdict: 'harmful'; readonly replacement?: string | undefined }

const harmless: Judgement = { verdict: 'harmless' }
const harmful: Judgement = { verdict: 'harmful' }

/** Judges one new or changed entry below `root` by what git would do with it. In doubt it is harmful. */
export function judgeGitEntry(root: string, git: string, name: string, known: ReadonlySet<string>): Judgement {
  const path = join(git, name)
  switch (name) {
    case 'config':
    case 'config.worktree': {
      const text = readPlainFile(root, path)
      if (text === undefined) return { verdict: 'harmful', replacement: '' }
      const replacement = sanitizeGitConfig(text)
      return replacement === undefined ? harmless : { verdict: 'harmful', replacement }
    }
    case 'commondir': {
      // What `git worktree add` writes: it leads to the repository that this directory lies in, and that is judged itself.
      const text = readPlainFile(root, path)?.trim()
      const owner = dirname(dirname(git))
      return text === '../..' && basename(dirname(git)) === 'worktrees' && known.has(owner) ? harmless : harmful
    }
    case 'gitdir':
      return readPlainFile(root, path) === undefined ? harmful : harmless
    default:
      // Hooks, attributes, alternates: nothing that appears there can be told from an attack.
      return harmful
  }
}

/** Judges a new or changed file or symlink named `.git`: it may only lead to a git directory that is judged itself. */
export function judgeGitLink(link: string, known: ReadonlySet<string>): Judgement {
  const target = targetOfGitFile(link)
  return target !== undefined && known.has(target) ? harmless : harmful
}
