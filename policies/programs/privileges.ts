import { unknown } from '../commands/facts.ts'
import { optionTable, parseArguments } from '../commands/parse-options.ts'
import type { Program, ProgramTable } from './program-table.ts'

/** Creates the row for a program that runs a command as another user. Such a command requires approval in every mode except `bypass`. */
function raiser(source: string, options: string): Program {
  const table = optionTable(options)
  return {
    source,
    judge: (args) => {
      const reason = 'it requests the privileges of another user'
      const parsed = parseArguments(args, table, { letters: 'getopt', stopAtOperand: true })
      const alarms = [{ kind: 'privilege', reason } as const]
      if (!parsed.ok) return { facts: [unknown(parsed.reason)], alarms, opaque: parsed.reason }
      if (parsed.operands.length === 0)
        return { facts: [unknown('it names no command, so it may start a shell as another user')], alarms }
      return { facts: [], alarms, runs: [{ kind: 'command', words: parsed.operands }] }
    },
  }
}

/** Programs that run a command as another user. */
export const privileges: ProgramTable = {
  sudo: raiser(
    'sudo(8)',
    '-A -b -E -H -k -n -S -u: -g: -p: -C: -D: -h: -r: -t: -T: -U: --user: --group: --non-interactive --preserve-env?',
  ),
  doas: raiser('doas(1)', '-n -u: -C:'),
  pkexec: raiser('pkexec(1)', '--user: --disable-internal-agent'),
  su: {
    source: 'su(1)',
    judge: () => ({
      facts: [unknown('it runs a shell as another user')],
      alarms: [{ kind: 'privilege', reason: 'it requests the privileges of another user' }],
      opaque: 'a shell of another user runs the commands in the arguments',
    }),
  },
}
