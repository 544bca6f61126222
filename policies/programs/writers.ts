import { unknown } from '../commands/facts.ts'
import { optionTable, parseArguments } from '../commands/options.ts'
import type { Program, ProgramTable } from './program.ts'

/** A row for a program that writes what its operands name. */
function writer(source: string, options: string): Program {
  const table = optionTable(options)
  return {
    source,
    judge: (args) => {
      const parsed = parseArguments(args, table)
      if (!parsed.ok) return { facts: [unknown(parsed.reason)] }
      return { facts: [{ class: 'writes', paths: parsed.operands.map(({ text }) => text) }] }
    },
  }
}

export const writers: ProgramTable = {
  touch: writer('touch(1)', '-a -c -d: -h -m -r< -t: --no-create --date: --reference<'),
  mkdir: writer('mkdir(1)', '-p -v -m: --parents --verbose --mode:'),
}
