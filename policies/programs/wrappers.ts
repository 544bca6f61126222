import { readOnly, unknown } from '../commands/facts.ts'
import { optionTable, parseArguments, type OptionStyle, type ParseStyle } from '../commands/parse-options.ts'
import { mayBeSeveral, staticText, type ShellWord } from '../commands/shell-word.ts'
import type { ShellAssignment } from '../commands/simple-command.ts'
import { listedFiles, originOfListed } from '../commands/file-lists.ts'
import { join, judgeOptions, judgeTexts } from './judges.ts'
import { privilege } from './privileges.ts'
import type { JudgeContext, Judgement, Program, ProgramTable } from './program-table.ts'

/** The judgement about a wrapper whose arguments aren't understood: any of them may be a command that it runs. */
function hidden(reason: string): Judgement {
  return { facts: [unknown(reason)], opaque: reason }
}

function starts(words: readonly ShellWord[], more: Partial<Judgement> = {}): Judgement {
  return { facts: [], ...more, runs: [{ kind: 'command', words }] }
}

/** Creates the row of a program that takes options and a fixed number of operands, and runs the remaining words as a command. */
function wrapper(
  letters: OptionStyle,
  source: string,
  options: string,
  skip = 0,
  style: Omit<ParseStyle, 'letters'> = {},
): Program {
  const table = optionTable(options)
  return {
    source,
    judge: (args) => {
      const parsed = parseArguments(args, table, { letters, stopAtOperand: true, ...style })
      if (!parsed.ok) return hidden(parsed.reason)
      // If an operand expands to several words, the second of them would be the program.
      const several = parsed.operands.slice(0, skip).find(mayBeSeveral)
      if (several !== undefined) return hidden(`${several.text} may expand to several words`)
      const command = parsed.operands.slice(skip)
      if (command.length === 0) return hidden('it has no command to run')
      const own = judgeOptions(parsed.options)
      // If the program doesn't understand an operand, its error message shows the operand.
      return join([own, judgeTexts(parsed.operands.slice(0, skip)), starts(command)])
    },
  }
}

const envOptions = optionTable('-i -u: -v --ignore-environment --unset: --debug')

/** Judges `env A=b CMD`. The assignments count as if the shell made them. Without a command, `env` shows the environment. */
function judgeEnv(args: readonly ShellWord[]): Judgement {
  const parsed = parseArguments(args, envOptions, { letters: 'getopt', stopAtOperand: true })
  if (!parsed.ok) {
    return { ...hidden(parsed.reason), alarms: [{ kind: 'environment', reason: `env: ${parsed.reason}` }] }
  }
  const assignments: ShellAssignment[] = []
  let at = 0
  for (; at < parsed.operands.length; at++) {
    const word = parsed.operands[at]
    const text = word?.kind === 'dynamic' ? word.prefix : (word?.text ?? '')
    const equals = text.indexOf('=')
    if (equals <= 0) break
    const value: ShellWord | undefined =
      word?.kind === 'dynamic'
        ? { ...word, prefix: text.slice(equals + 1) }
        : word?.kind === 'static'
          ? { kind: 'static', text: text.slice(equals + 1) }
          : undefined
    assignments.push({ name: text.slice(0, equals), value })
  }
  const words = parsed.operands.slice(at)
  if (words.length === 0) {
    return { facts: [readOnly], alarms: [{ kind: 'environment', reason: 'env shows the whole environment' }] }
  }
  return { facts: [], runs: [{ kind: 'command', words, assignments }] }
}

const xargsOptions = optionTable(
  '-0 -r -t -x -n: -L: -P: -d: -s: -I: -a< -E: --null --no-run-if-empty --verbose --exit --max-args: --max-procs: --delimiter: --max-chars: --replace: --arg-file<',
)

/**
 * Judges xargs, which adds words from its input to a command. The added words may be anything, unless the pipeline before xargs lists files in the
 * workspace.
 */
function judgeXargs(args: readonly ShellWord[], context: JudgeContext): Judgement {
  const parsed = parseArguments(args, xargsOptions, { letters: 'getopt', stopAtOperand: true })
  if (!parsed.ok) return hidden(parsed.reason)
  const fromFile = parsed.options.some(({ takes }) => takes === 'reads')
  const files =
    !fromFile && context.input.from === 'pipe' ? listedFiles(context.input.stages ?? [], context.place) : undefined
  const added: ShellWord = {
    kind: 'dynamic',
    text: '<words from input>',
    prefix: files?.dotted === true ? './' : '',
    single: false,
    from: originOfListed(files, parsed.operands[0]?.text ?? 'echo'),
    // Names may contain blanks and newlines, and xargs splits them there, unless NULs separate the names.
    ...(parsed.options.some(({ name }) => name === '-0' || name === '--null') ? { whole: true as const } : {}),
  }
  const replaced = parsed.options.findLast(({ name }) => name === '-I' || name === '--replace')?.value
  const mark = staticText(replaced)
  if (replaced !== undefined && (mark === undefined || mark === '')) return hidden('what -I replaces is not known')
  const command: readonly ShellWord[] =
    parsed.operands.length === 0 ? [{ kind: 'static', text: 'echo' }] : parsed.operands
  const words =
    mark === undefined
      ? [...command, added]
      : command.map((word): ShellWord => {
          if (word.kind !== 'static' || !word.text.includes(mark)) return word
          const before = word.text.slice(0, word.text.indexOf(mark))
          const isOther = !/^(?:|.*\/)$/.test(before)
          const from = isOther ? 'commands' : added.from
          return {
            ...added,
            text: word.text,
            prefix: before === '' ? added.prefix : before,
            single: before !== '',
            from,
          }
        })
  return join([
    judgeOptions(parsed.options),
    { facts: [], runs: [{ kind: 'command', words, input: { from: 'pipe' } }] },
  ])
}

const sshOptions = optionTable(
  '-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -b: -c: -e: -i: -l: -m: -p:',
)

/** Judges `ssh HOST COMMAND`, which runs a text in the remote shell. Rules also apply to the commands in the text. */
function judgeSsh(args: readonly ShellWord[]): Judgement {
  const parsed = parseArguments(args, sshOptions, { letters: 'getopt', stopAtOperand: true })
  if (!parsed.ok) return hidden(`ssh: ${parsed.reason}, and it can run local programs`)
  const [host, ...command] = parsed.operands
  const network = { class: 'network', hosts: [(host?.text ?? '').replace(/^.*@/, '')] } as const
  const code = { class: 'runs-code', reason: 'it runs commands on another machine' } as const
  // On this machine, ssh is a way to another user.
  const alarms = /^(?:localhost(?:\..*)?|127(?:\.[0-9]+)*|::1|0(?:\.0)*)$/.test(network.hosts[0]) ? [privilege] : []
  if (command.length === 0)
    return {
      facts: [network, unknown('a remote shell runs the commands that it reads from standard input')],
      alarms,
      opaque: 'a remote shell runs the commands that it reads from standard input',
    }
  const texts = command.map((word) => staticText(word))
  if (texts.includes(undefined))
    return { facts: [network, code], alarms, opaque: 'the remote command is known only when the command line runs' }
  return { facts: [network, code], alarms, runs: [{ kind: 'script', text: texts.join(' '), shell: 'sh' }] }
}

/** Programs that run a command contained in their arguments. */
export const wrappers: ProgramTable = {
  env: { source: 'env(1), without -S, which splits a text into a command, and without -C', judge: judgeEnv },
  xargs: { source: 'xargs(1), without -i, -l and -e, whose values may be attached or absent', judge: judgeXargs },
  ssh: { source: 'ssh(1), without -o, -F, -J, -L, -R, -D, -W, -E, -S, -O, -w, -I, -Q', judge: judgeSsh },
  nohup: wrapper('getopt', 'nohup(1)', ''),
  timeout: wrapper(
    'getopt',
    'timeout(1)',
    '-k: -s: -v --signal: --kill-after: --preserve-status --foreground --verbose',
    1,
  ),
  gtimeout: wrapper('getopt', 'timeout(1)', '-k: -s: -v --signal: --kill-after: --preserve-status --foreground', 1),
  nice: wrapper('getopt', 'nice(1)', '-n: --adjustment:', 0, { numbers: true }),
  ionice: wrapper('getopt', 'ionice(1)', '-c: -n: -t --class: --classdata: --ignore'),
  chrt: wrapper('getopt', 'chrt(1)', '-b -f -i -o -r', 1),
  taskset: wrapper('getopt', 'taskset(1)', '-c', 1),
  stdbuf: wrapper('getopt', 'stdbuf(1)', '-i: -o: -e: --input: --output: --error:'),
  setsid: wrapper('getopt', 'setsid(1)', '-c -f -w --ctty --fork --wait'),
  time: wrapper('getopt', 'time(1)', '-p -v -q -f: -o> -a --portability --verbose --format: --output> --append'),
  busybox: wrapper('getopt', 'busybox(1)', ''),
  toybox: wrapper('getopt', 'toybox(1)', ''),
  flock: { source: 'flock(1)', judge: () => hidden('flock runs the command in its arguments') },
  watch: { source: 'watch(1): never ends', judge: () => hidden('watch runs a command again and again') },
  parallel: { source: 'parallel(1)', judge: () => hidden('parallel creates commands from its input') },
  entr: { source: 'entr(1)', judge: () => hidden('entr runs a command again and again') },
  script: { source: 'script(1)', judge: () => hidden('script runs a shell') },
  expect: { source: 'expect(1)', judge: () => hidden('expect runs programs and types into them') },
  chroot: { source: 'chroot(8)', judge: () => hidden('chroot runs programs from another directory tree') },
  unshare: { source: 'unshare(1)', judge: () => hidden('unshare runs a program in namespaces of its own') },
  nsenter: { source: 'nsenter(1)', judge: () => hidden('nsenter runs a program in other namespaces') },
  at: { source: 'at(1)', judge: () => hidden('at runs commands later') },
  batch: { source: 'batch(1)', judge: () => hidden('batch runs commands later') },
  crontab: { source: 'crontab(1)', judge: () => hidden('crontab runs commands later') },
}
