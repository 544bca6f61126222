import { readOnly, unknown, type Fact } from '../commands/facts.ts'
import { optionTable, parseArguments } from '../commands/parse-options.ts'
import type { ShellWord } from '../commands/shell-word.ts'
import { changesCode, effectOfVariable } from './environment-variables.ts'
import { judgeTexts } from './judges.ts'
import type { Program } from './program-table.ts'

const name = /^[A-Za-z_]\w*$/

/**
 * Matches the options of `declare` with which a variable later gets other values than those that the command line assigns to it: `-n` makes it another
 * name of a variable, `-l`, `-u` and `-c` change the case of values, and `-i` evaluates them as arithmetic.
 */
const rewriting = /^-[a-zA-Z]*[nluci]/

/** Judges commands that assign variables, such as `export A=b`. Only literal names are accepted, because the shell evaluates subscripts in names. */
export function judgeNames(options: string, exported: boolean, removes = false): Program['judge'] {
  const table = optionTable(options)
  return (args) => {
    const parsed = parseArguments(args, table, { letters: 'getopt' })
    if (!parsed.ok) {
      const rewrites = args.some((word) => rewriting.test(word.text))
      return { facts: [unknown(parsed.reason)], ...(rewrites ? { opaque: parsed.reason } : {}) }
    }
    const facts: Fact[] = [readOnly]
    if (parsed.operands.length === 0)
      return { facts, alarms: [{ kind: 'environment', reason: 'it shows every variable' }] }
    if (parsed.options.some(({ name: option }) => option === '-p'))
      return { facts, alarms: [{ kind: 'environment', reason: 'it shows the values of variables' }] }
    for (const word of parsed.operands) {
      const given = word.kind === 'dynamic' ? word.prefix : word.text
      const equals = given.indexOf('=')
      const variable = (equals < 0 ? given : given.slice(0, equals)).replace(/\+$/, '')
      if (!name.test(variable) || (word.kind === 'dynamic' && equals < 0)) {
        return { facts: [unknown(`${word.text} is not a simple variable name`)] }
      }
      const value = equals >= 0 && word.kind === 'static' ? given.slice(equals + 1) : undefined
      const effect = equals < 0 && !exported && !removes ? 'harmless' : effectOfVariable(variable, value, exported)
      if (effect === 'dangerous' || effect === 'unknown') facts.push(changesCode(variable))
      // The value may be a secret from the environment. Under the new variable's harmless name, a program could show it unnoticed.
      if (exported && word.kind === 'dynamic' && word.from === 'environment')
        facts.push(unknown(`${word.text} may pass on a secret from the environment`))
    }
    return { facts }
  }
}

/**
 * Judges a built-in that can change which programs run when later commands use a name.
 *
 * @param options the options with which the built-in only lists or forgets names
 * @param renames returns whether this operand makes the built-in change what a name runs
 */
export function judgeRenaming(
  reason: string,
  options: string,
  renames: (word: ShellWord) => boolean,
): Program['judge'] {
  const table = optionTable(options)
  return (args) => {
    const parsed = parseArguments(args, table, { letters: 'getopt' })
    if (parsed.ok && !parsed.operands.some(renames)) return { facts: [readOnly, ...judgeTexts(parsed.operands).facts] }
    return { facts: [unknown(reason)], opaque: reason }
  }
}
