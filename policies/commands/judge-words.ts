import { posix } from 'node:path'
import { dataLossOf } from '../programs/data-loss.ts'
import { judgeTexts } from '../programs/judges.ts'
import type { Inner, Judgement } from '../programs/program-table.ts'
import { findProgram } from '../programs/program-tables.ts'
import { destroyers } from '../programs/writers.ts'
import { unknown, type Fact } from './facts.ts'
import { originOfListed } from './file-lists.ts'
import type { Place } from './place.ts'
import type { ShellWord } from './shell-word.ts'
import type { SimpleCommand } from './simple-command.ts'

/** Returns a word, with `from` set if the word stands for a list of files. The value of `from` depends on the program that receives the word. */
function originOf(word: ShellWord, program: ShellWord | undefined): ShellWord {
  if (word.kind !== 'dynamic' || word.listed === undefined) return word
  return { ...word, from: originOfListed(word.listed, program?.text) }
}

/** The folders of the system's own programs. A program in any other folder may have been written by anyone. */
const systemFolders = new Set(['/bin', '/usr/bin', '/usr/local/bin', '/sbin', '/usr/sbin', '/opt/homebrew/bin'])

/** Judges what a command's program does. */
export function judgeWords(command: SimpleCommand, place: Place): Judgement {
  const [program, ...args] = command.words.map((word) => originOf(word, command.words[0]))
  if (program === undefined) return { facts: [] }
  if (program.kind !== 'static')
    return { facts: [unknown(`the program that ${program.text} refers to is known only when the command runs`)] }
  const name = program.text
  // The arguments of a function become `$1` and so on in its commands, which are judged separately.
  if (command.callsFunction === true) return judgeTexts(args)
  const base = posix.basename(name)
  if (name.includes('/') && !systemFolders.has(posix.dirname(name))) {
    return { facts: [{ class: 'runs-code', reason: `runs the file ${name}` }] }
  }
  const row = findProgram(base)
  const lost = dataLossOf(base, args)
  if (row === undefined) {
    // It may do whatever the code in a file may do, and may run the command in its arguments.
    const facts: readonly Fact[] = [{ class: 'runs-code', reason: `${name} is not a known program` }, ...lost]
    return { facts, unlisted: true, runs: destroyersIn(args) }
  }
  const judged = row.judge(args, { input: command.input, place })
  const bare = judged.bare === undefined ? {} : { bare: [program, ...judged.bare] }
  const unclear = command.indirect === true ? [unknown(`the name of the program ${name} comes from a variable`)] : []
  return { ...judged, ...bare, facts: [...judged.facts, ...lost, ...unclear] }
}

/** The commands in the arguments of an unknown program that would destroy something, if the program runs its arguments. */
function destroyersIn(args: readonly ShellWord[]): readonly Inner[] {
  const at = args.findIndex(({ kind, text }) => kind === 'static' && Object.hasOwn(destroyers, posix.basename(text)))
  return at < 0 ? [] : [{ kind: 'command', words: args.slice(at) }]
}
