import { decodeText, encodeText } from '../path-bytes.ts'
import { holdGit, type GitDirectories } from './git-directories.ts'
import { locateHostGit } from './host-git.ts'

/** What git knows about the files of a user's work tree, in which no command of the run has written. Paths are relative to the work tree. */
export type CommittedFiles = {
  /** The files in the index. */
  readonly tracked: () => readonly string[]
  /** The files that are neither in the index nor ignored. Files that only the user's global settings ignore are among them. */
  readonly untracked: () => readonly string[]
  /** Those of these files and directories that are ignored. */
  readonly ignored: (paths: readonly string[]) => readonly string[]
  /** The objects with the content that files have in the checked-out commit. Files that aren't in it are left out. */
  readonly objects: (paths: readonly string[]) => ReadonlyMap<string, string>
}

/**
 * Opens git's view of a work tree. If git fails, its answer is empty.
 *
 * @param workTree the path of the work tree, without symlinks
 * @param git its git directories, from `gitDirectoriesOf`
 * @param roots the directories that commands may write to: a git program in them isn't used
 * @returns undefined if there is no git that can be trusted
 * @internal
 */
export function committedFiles(
  workTree: string,
  git: GitDirectories,
  roots: readonly string[],
): CommittedFiles | undefined {
  const program = locateHostGit(roots)
  if (program === undefined) return undefined
  const ask = (words: readonly string[], input?: Buffer): readonly Buffer[] => {
    const held = holdGit(git)
    if (held === undefined) return []
    try {
      // Git would wait for somebody who writes to a pipe in the place of the index.
      if ((held.own.stat('index')?.kind ?? 'file') !== 'file') return []
      const { ok, stdout } = program.run(held.own, words, {
        env: { GIT_WORK_TREE: workTree },
        ...(input === undefined ? {} : { input }),
      })
      return ok ? splitAt(stdout, words.includes('-z') ? 0 : newline) : []
    } finally {
      held.close()
    }
  }
  const list = (...words: readonly string[]): readonly string[] => [
    ...new Set(ask(['ls-files', '-z', ...words]).map((name) => decodeText(name))),
  ]
  return {
    tracked: () => list(),
    untracked: () => list('--others', '--exclude-standard'),
    ignored: (paths) => {
      // The prefix ./ keeps git from reading a name as a magic pathspec.
      const input = Buffer.concat(paths.map((path) => encodeText(`./${path}\0`)))
      return ask(['check-ignore', '-z', '--stdin'], input).map((path) => decodeText(path).slice(2))
    },
    objects: (paths) => {
      const asked = paths.filter((path) => !path.includes('\n'))
      const lines = asked.map((path) => Buffer.concat([Buffer.from('HEAD:'), encodeText(path), Buffer.from('\n')]))
      const answers = ask(['cat-file', '--batch-check=%(objecttype) %(objectname)', '--buffer'], Buffer.concat(lines))
      if (answers.length !== asked.length) return new Map()
      const found = asked.flatMap((path, index): (readonly [string, string])[] => {
        const [, object] = /^blob ([0-9a-f]+)$/.exec(decodeText(answers[index] ?? Buffer.alloc(0))) ?? []
        return object === undefined ? [] : [[path, object]]
      })
      return new Map(found)
    },
  }
}

const newline = 10

function splitAt(bytes: Buffer, end: number): readonly Buffer[] {
  const parts: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(end); at !== -1; at = bytes.indexOf(end, from)) {
    parts.push(bytes.subarray(from, at))
    from = at + 1
  }
  return parts
}
