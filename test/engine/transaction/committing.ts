import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agent } from '../../support/agent.ts'
import { say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { cmd } from './overlay-runs.ts'

/** Options that let git commit. */
export const by = '-c user.name=x -c user.email=x@x'

/** The configuration of a repository that was made anew, without remotes. */
export const plainConfig =
  '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n'

/** Performs a run that makes commits in a repository with one commit, and returns the state afterwards. */
export async function committing(
  command: string,
  {
    args = [],
    env = {},
    how,
    prepare,
    before,
  }: {
    readonly args?: readonly string[]
    readonly env?: Readonly<Record<string, string>>
    /** How the view is made. Default: by the cheapest strategy that works. */
    readonly how?: string
    /** Called before the run. */
    readonly prepare?: (git: Git, cwd: string) => void
    /** Called when the run has made its commits. */
    readonly before?: (git: Git) => void
  } = {},
) {
  // Commands that move or remove refs would need approval.
  const rules = { '.config/portcullis/rules/git.rules': 'prefix_rule(pattern = ["git"], decision = "allow")\n' }
  const [cwd, home] = [repository({ 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'out\n' }), tempDir(rules)]
  const git: Git = (...words) => execFileSync('git', words, { cwd, encoding: 'utf8' }).trimEnd()
  git('checkout', '-q', '-b', 'main')
  git('add', '.')
  git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'first')
  const first = git('rev-parse', 'HEAD')
  prepare?.(git, cwd)
  const ended = await exec(
    (index) => {
      if (index === 1) before?.(git)
      return index === 0 ? cmd(command) : [say('done')]
    },
    ['--json', ...(how === undefined ? [] : [`--view=${how}`]), ...args, 'x'],
    { cwd, home, env },
  )
  const last = ended.events.at(-1)
  const report = last?.type === 'turn.completed' || last?.type === 'turn.failed' ? last.transaction : undefined
  const ask = (...words: readonly string[]) => agent([...words], { cwd, home })
  return { cwd, home, git, first, ended, report, ask, read: (path: string) => readFileSync(join(cwd, path), 'utf8') }
}

/** Runs git in the repository. */
export type Git = (...words: string[]) => string
