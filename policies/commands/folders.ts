import { posix } from 'node:path'
import type { Alarm } from './facts.ts'
import { coversSensitive, findSensitive } from './sensitive-paths.ts'
import type { ShellWord } from './shell-word.ts'
import { askUnlisted, pathFrom } from './unlisted-files.ts'

type Visitor = {
  readonly words: readonly ShellWord[]
  /** The words without the options that precede the subcommand: `git push` for `git -C dir push`. Set only for git. */
  readonly bare: readonly ShellWord[] | undefined
  readonly alarms: readonly Alarm[]
  readonly reads: readonly ShellWord[]
  /** Folders that the command traverses. */
  readonly trees: readonly ShellWord[]
}

const mostFolders = 16
/** The maximum number of paths that are judged again because the command line changes to another folder. */
const mostPaths = 5_000
/** The maximum length, in characters, of all paths that are judged again because the command line changes to another folder. */
const mostText = 256 * 1024

/**
 * Adds alarms to commands whose paths may lead to credentials or to another repository, and to all commands if the line has too many folders or paths
 * to follow. A line may change to several folders, in any order, so each relative path is judged again from all of them. In another folder, git may
 * also work on a different repository, whose configuration can run programs and may have come with the workspace.
 */
export function followFolders<T extends Visitor>(commands: readonly T[], cwd: string): readonly T[] {
  const targets = commands.flatMap(({ words }) => targetOf(words))
  if (targets.length === 0) return askUnlisted(commands, [''], cwd)
  let folders: readonly string[] = ['']
  for (const target of targets) {
    folders = [...new Set([...folders, ...folders.map((one) => pathFrom(one, target))])]
    if (folders.length > mostFolders) break
  }
  const others = folders.filter((one) => one !== '' && posix.resolve(cwd, one) !== cwd)
  if (folders.length > mostFolders || isTooMuch(others, commands)) {
    const reason =
      'the command line changes to too many directories, or names too many paths, for the analysis to follow'
    return commands.map((command) => ({ ...command, alarms: [...command.alarms, { kind: 'secret', reason }] }))
  }
  return askUnlisted(commands, folders, cwd).map((command) => {
    const alarms = others.flatMap((folder) => alarmsIn(folder, command))
    return alarms.length === 0 ? command : { ...command, alarms: [...command.alarms, ...alarms] }
  })
}

function isTooMuch(folders: readonly string[], commands: readonly Visitor[]): boolean {
  const words = commands.flatMap(({ reads, trees }) => [...reads, ...trees])
  const length = words.reduce((sum, { text }) => sum + text.length, 0)
  const lengths = folders.reduce((sum, folder) => sum + folder.length, 0)
  return words.length * folders.length > mostPaths || length * folders.length + lengths * words.length > mostText
}

/** The folder that `cd`, `pushd` or `chdir` changes to. The part of its path that is known only at run time is replaced by `unknown`. */
function targetOf([program, ...args]: readonly ShellWord[]): readonly string[] {
  if (program?.kind !== 'static' || !/^(?:cd|pushd|chdir)$/.test(program.text)) return []
  const target = args.find(({ text }) => !/^-[A-Za-z@]+$|^--$/.test(text))
  if (target === undefined) return program.text === 'pushd' ? [] : ['~']
  if (target.kind === 'dynamic') return [posix.join(target.prefix, 'unknown')]
  return [/^[-+]/.test(target.text) ? '../unknown' : target.text]
}

function alarmsIn(folder: string, { bare, reads, trees }: Visitor): readonly Alarm[] {
  const place = (word: ShellWord): string => pathFrom(folder, word.kind === 'dynamic' ? word.prefix : word.text)
  const isPattern = /[*?[]/.test(folder)
  const secret = reads.find((word) => findSensitive(place(word), isPattern || word.kind === 'glob') !== undefined)
  const covering = trees.find((word) => coversSensitive(place(word)))
  return [
    ...(secret === undefined ? [] : [said(`credentials are stored in ${place(secret)}`)]),
    ...(covering === undefined ? [] : [said(`credentials are stored below ${place(covering)}`)]),
    ...(bare === undefined
      ? []
      : [
          {
            kind: 'other-repository',
            reason: 'the line changes to another folder, and git then works on the repository there',
          } as const,
        ]),
  ]
}

function said(reason: string): Alarm {
  return { kind: 'secret', reason }
}
