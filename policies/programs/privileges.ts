import { unknown, type Alarm } from '../commands/facts.ts'
import { optionTable, parseArguments } from '../commands/parse-options.ts'
import type { Program, ProgramTable } from './program-table.ts'

/** Creates the row for a program that runs a command as another user. Such a command requires approval in every mode except `bypass`. */
function raiser(source: string, options: string): Program {
  const table = optionTable(options)
  return {
    source,
    judge: (args) => {
      const parsed = parseArguments(args, table, { letters: 'getopt', stopAtOperand: true })
      const alarms = [privilege]
      if (!parsed.ok) return { facts: [unknown(parsed.reason)], alarms, opaque: parsed.reason }
      if (parsed.operands.length === 0)
        return { facts: [unknown('it names no command, so it may start a shell as another user')], alarms }
      return { facts: [], alarms, runs: [{ kind: 'command', words: parsed.operands }] }
    },
  }
}

/** The alarm about a command that gets the privileges of another user, or of the machine's owner. */
export const privilege: Alarm = { kind: 'privilege', reason: 'it requests the privileges of another user' }

/** Creates the row for a program that runs commands as another user, or in another place, in a way that isn't examined further. */
function elsewhere(source: string): Program {
  return {
    source,
    judge: () => ({
      facts: [unknown('it runs a command as another user')],
      alarms: [privilege],
      opaque: 'another user runs the commands in the arguments',
    }),
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
  ...Object.fromEntries(
    [
      ...[
        'su(1)',
        'sudoedit(8)',
        'sudo-rs(8)',
        'visudo(8)',
        'run0(1)',
        'runuser(1)',
        'setpriv(1)',
        'capsh(1)',
        'sg(1)',
        'newgrp(1)',
      ],
      ...['machinectl(1)', 'systemd-run(1)', 'pfexec(1)', 'gosu', 'su-exec', 'dzdo', 'kdesu', 'gksu'],
    ].map((source) => [source.replace(/\(.*/, ''), elsewhere(source)]),
  ),
}
