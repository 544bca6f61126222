import { readOnly, unknown, type Alarm } from '../commands/facts.ts'
import { optionTable, parseArguments } from '../commands/parse-options.ts'
import { mayBeOption, mayBeSeveral, staticText, type ShellWord } from '../commands/shell-word.ts'
import { changesCode, effectOfVariable } from './environment-variables.ts'
import { mountedHosts } from '../commands/mounted-hosts.ts'
import { judgeOptions, judgeTexts, reader, runsScript } from './judges.ts'
import { plainExpansion } from '../commands/variables.ts'
import { judgeNames, judgeRenaming } from './naming-builtins.ts'
import type { Judgement, Program, ProgramTable } from './program-table.ts'
import { shellOptions } from './shell-options.ts'

const text = { operands: 'text', anyWord: true } as const
const name = /^[A-Za-z_]\w*$/

function evalAlarm(reason: string): readonly Alarm[] {
  return [{ kind: 'eval', reason }]
}

/** Judges `eval` and `trap`, which run text that they are given. */
function judgeText(reason: string, words: readonly ShellWord[]): Judgement {
  const texts = words.map((word) => staticText(word))
  if (texts.includes(undefined)) return { facts: [unknown(reason)], alarms: evalAlarm(reason), opaque: reason }
  return { facts: [], alarms: evalAlarm(reason), runs: [{ kind: 'script', text: texts.join(' '), shell: 'bash' }] }
}

function judgeTrap(args: readonly ShellWord[]): Judgement {
  if (args.some(({ kind }) => kind !== 'static')) {
    const reason = 'the text that trap runs is known only when the command runs'
    return { facts: [unknown(reason)], alarms: evalAlarm(reason), opaque: reason }
  }
  const [action, ...signals] = args[0]?.text === '--' ? args.slice(1) : args
  if (action === undefined || signals.length === 0 || action.text === '-' || action.text === '')
    return { facts: [readOnly] }
  return judgeText('trap runs text later', [action])
}

const setOptions = optionTable('-e -u -x -v -f -C -n -b -h -E -T -o: +o: --')

function judgeSet(args: readonly ShellWord[]): Judgement {
  const words = args.map((word): ShellWord =>
    word.kind === 'static' && /^\+[a-zA-Z]+$/.test(word.text) ? { ...word, text: word.text.replace('+', '-') } : word,
  )
  const parsed = parseArguments(words, setOptions, { letters: 'getopt' })
  if (!parsed.ok) return { facts: [unknown(parsed.reason)] }
  if (parsed.operands.length > 0) return { facts: [unknown('set changes the arguments of the shell')] }
  if (args.length === 0) return { facts: [unknown('set shows every variable')] }
  const odd = parsed.options.find(({ value }) => value !== undefined && !shellOptions.has(value.text))
  return {
    facts: [odd === undefined ? readOnly : unknown(`the option ${odd.value?.text ?? ''} is not known to be harmless`)],
  }
}

/**
 * Judges `test`, which evaluates a subscript after `-v` and `-R`. A word whose value is unknown may itself expand
 * to one of these options; or it may expand to nothing, so that another word becomes the option.
 */
function judgeTest(args: readonly ShellWord[]): Judgement {
  const shifting = args.some((word) => (word.kind === 'glob' ? mayBeOption(word) : mayBeSeveral(word)))
  const evaluating = args.some(({ kind, text }) => kind !== 'dynamic' && /^-[vR]$/.test(text))
  const inner = args.at(-1)?.text === ']' ? args.slice(0, -1) : args
  // If the first of two adjacent words is unknown, it may be an option such as `-v`, and the second word may be the name that the option evaluates.
  const open = inner.some((word, at) => {
    const next = inner[at + 1]
    return (
      word.kind === 'dynamic' &&
      mayBeOption(word) &&
      next !== undefined &&
      (next.kind !== 'static' || next.text.includes('['))
    )
  })
  // If a value that should be a number is something else, an error message shows it.
  const compares = args.some(({ text }) => /^-(?:eq|ne|lt|le|gt|ge)$/.test(text))
  if (compares && judgeTexts(args).facts.length > 0) return { facts: judgeTexts(args).facts }
  // Some shells evaluate the compared words as arithmetic.
  if (compares && inner.some(({ text }) => text.includes('[')))
    return { facts: [unknown('test may evaluate a subscript')] }
  const shown = inner.filter((_, at) => !isPresence(inner, at))
  if (judgeTexts(shown).facts.length > 0) return { facts: judgeTexts(shown).facts }
  if (shifting || evaluating || open) return { facts: [unknown('test may evaluate a subscript')] }
  return { facts: [readOnly, ...mountedHosts(inner)] }
}

/** Whether a test uses the word at index `at` only to check whether it is empty, or whether a file with that name exists or is of some kind. */
function isPresence(words: readonly ShellWord[], at: number): boolean {
  const before = words[at - 1]?.text
  const isFile = /^-[b-hkprstuwxGLNOS]$/.test(before ?? '')
  const isAsked = before === undefined || /^(?:-[nz]|!|-[ao]|\()$/.test(before)
  const [after, next] = [words[at + 1]?.text, words[at + 2]]
  // If more words follow, an error message may show the value of this word.
  if (after !== undefined && !(/^-[ao]$/.test(after) && next !== undefined) && after !== ')') return false
  return isFile || (isAsked && plainExpansion.test(words[at]?.text ?? ''))
}

/** Matches a printf directive that stores a count (`%n`), with any flags, width and length between its two characters. */
const counting = /%[^%a-zA-Z]*[hlLjzt]*n/

function judgePrintf(args: readonly ShellWord[]): Judgement {
  const [format, ...rest] = args[0]?.text === '--' ? args.slice(1) : args
  if (format === undefined) return { facts: [readOnly] }
  if (format.kind === 'dynamic' ? !/^[^-]/.test(format.prefix) : mayBeOption(format) || format.text.startsWith('-')) {
    return { facts: [unknown('printf -v evaluates the name it writes to')] }
  }
  // For `%n`, printf stores the number of characters written so far in the variable that an argument names. A format that is known only at run time may
  // contain `%n`.
  if (
    format.kind === 'static' ? counting.test(format.text.replaceAll('%%', '')) : rest.length > 0 || mayBeSeveral(format)
  )
    return { facts: [unknown('printf %n gives a variable a value')] }
  return { facts: [readOnly, ...judgeTexts([format, ...rest]).facts] }
}

const readOptions = optionTable('-r -s -e -n: -N: -t: -d: -p: -u:')

function judgeRead(args: readonly ShellWord[]): Judgement {
  const parsed = parseArguments(args, readOptions, { letters: 'getopt' })
  if (!parsed.ok) return { facts: [unknown(parsed.reason)] }
  const shown = judgeOptions(parsed.options).facts
  if (shown.length > 0) return { facts: shown }
  const odd = parsed.operands.find((word) => !name.test(staticText(word) ?? ''))
  if (odd !== undefined) return { facts: [unknown(`${odd.text} is not a simple variable name`)] }
  const changing = parsed.operands.filter(({ text: variable }) =>
    /^(?:unknown|dangerous)$/.test(effectOfVariable(variable, undefined, false)),
  )
  return { facts: [readOnly, ...changing.map(({ text: variable }) => changesCode(variable))] }
}

/** Judges `command`: `command CMD` runs the program, `command -v NAME` looks the name up. */
function judgeCommand(args: readonly ShellWord[]): Judgement {
  const parsed = parseArguments(args, optionTable('-p -v -V'), { letters: 'getopt', stopAtOperand: true })
  if (!parsed.ok) return { facts: [unknown(parsed.reason)], opaque: parsed.reason }
  if (parsed.options.some(({ name: option }) => option !== '-p')) return { facts: [readOnly] }
  return parsed.operands.length === 0
    ? { facts: [readOnly] }
    : { facts: [], runs: [{ kind: 'command', words: parsed.operands }] }
}

function judgeExec(args: readonly ShellWord[]): Judgement {
  const parsed = parseArguments(args, optionTable(''), { letters: 'getopt', stopAtOperand: true })
  if (!parsed.ok) return { facts: [unknown(parsed.reason)], opaque: parsed.reason }
  return parsed.operands.length === 0
    ? { facts: [readOnly] }
    : { facts: [], runs: [{ kind: 'command', words: parsed.operands }] }
}

function judgeSource(args: readonly ShellWord[]): Judgement {
  return args[0] === undefined ? { facts: [unknown('no script is named')] } : runsScript(args[0])
}

function builtin(judge: Program['judge']): Program {
  return { source: 'bash(1), SHELL BUILTIN COMMANDS', judge }
}

/** Commands that the shell itself carries out. */
export const builtins: ProgramTable = {
  ':': reader('getopt', 'bash(1), :', '', text),
  // echo prints every argument, except for its three options.
  echo: builtin((args) => ({ facts: [readOnly, ...judgeTexts(args).facts] })),
  printf: builtin(judgePrintf),
  cd: reader('getopt', 'bash(1), cd', '-L -P -e', { most: 1, anyWord: true }),
  pushd: reader('getopt', 'bash(1), pushd', '-n', { most: 1 }),
  popd: reader('getopt', 'bash(1), popd', '-n', { most: 0 }),
  dirs: reader('getopt', 'bash(1), dirs', '-c -l -p -v', { operands: 'none' }),
  pwd: reader('getopt', 'bash(1), pwd', '-L -P', { operands: 'none' }),
  type: reader('getopt', 'bash(1), type', '-a -f -p -P -t', { operands: 'text' }),
  test: builtin(judgeTest),
  '[': builtin(judgeTest),
  set: builtin(judgeSet),
  export: builtin(judgeNames('-p -n', true)),
  readonly: builtin(judgeNames('-p -r', false)),
  local: builtin(judgeNames('-r', false)),
  declare: builtin(judgeNames('-r -g -p', false)),
  typeset: builtin(judgeNames('-r -g -p', false)),
  unset: builtin(judgeNames('-v', false, true)),
  read: builtin(judgeRead),
  exit: reader('getopt', 'bash(1), exit', '', { operands: 'text' }),
  return: reader('getopt', 'bash(1), return', '', { operands: 'text' }),
  break: reader('getopt', 'bash(1), break', '', { operands: 'text' }),
  continue: reader('getopt', 'bash(1), continue', '', { operands: 'text' }),
  shift: reader('getopt', 'bash(1), shift', '', { operands: 'text' }),
  wait: reader('getopt', 'bash(1), wait', '-n -f', { operands: 'text' }),
  jobs: reader('getopt', 'bash(1), jobs', '-l -n -p -r -s', { operands: 'text' }),
  times: reader('getopt', 'bash(1), times', '', { operands: 'none' }),
  umask: reader('getopt', 'bash(1), umask', '-p -S', { operands: 'none' }),
  ulimit: reader(
    'getopt',
    'bash(1), ulimit: without a number, it only prints the limit',
    '-a -b -c -d -e -f -H -i -k -l -m -n -P -p -q -R -r -S -s -T -t -u -v -x',
    { operands: 'none' },
  ),
  // Without operands, `alias` and `enable` only list names.
  alias: builtin(judgeRenaming('an alias makes a name run another command', '-p', () => true)),
  enable: builtin(judgeRenaming('enable changes which commands are built into the shell', '-a -n -p -s', () => true)),
  // In zsh, `hash NAME=PATH` does what `hash -p PATH NAME` does in bash.
  hash: builtin(
    judgeRenaming(
      'hash makes a name run another program',
      '-d -l -r -t',
      ({ kind, text: word }) => kind !== 'static' || word.includes('='),
    ),
  ),
  help: reader('getopt', 'bash(1), help', '-d -m -s', { operands: 'text' }),
  command: builtin(judgeCommand),
  builtin: builtin(judgeExec),
  exec: builtin(judgeExec),
  eval: builtin((args) => judgeText('eval runs text as commands', args)),
  trap: builtin(judgeTrap),
  source: builtin(judgeSource),
  '.': builtin(judgeSource),
}
