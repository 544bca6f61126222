import { unknown } from '../commands/facts.ts'
import { optionTable, parseArguments } from '../commands/parse-options.ts'
import { mayBeSeveral, staticText, type ShellWord } from '../commands/shell-word.ts'
import { shellOptions } from './shell-options.ts'
import { judgeFiles, judgeTexts, runsScript } from './judges.ts'
import type { JudgeContext, Judgement, Program, ProgramTable } from './program-table.ts'

const options = optionTable('-c -l -e -u -x -v -n -f -C -b -h -o: +o: --login --norc --noprofile --posix')

function shell(kind: 'bash' | 'sh', source: string): Program {
  return { source, judge: (args, context) => judgeShell(kind, args, context) }
}

/** Judges a shell: it runs the text after `-c`, or else a file, or else its input. */
function judgeShell(kind: 'bash' | 'sh', args: readonly ShellWord[], context: JudgeContext): Judgement {
  const parsed = parseArguments(args, options, { letters: 'getopt', stopAtOperand: true })
  if (!parsed.ok) {
    const only = args.length === 1 ? staticText(args[0]) : undefined
    if (only === '--version' && kind === 'bash') return { facts: [] }
    return hidden(`the shell's arguments: ${parsed.reason}`)
  }
  for (const { name, value } of parsed.options) {
    if (name.endsWith('o') && name.length === 2 && !shellOptions.has(value?.text ?? '')) {
      return hidden(`the shell option ${value?.text ?? ''} is not known to be harmless`)
    }
  }
  const [first] = parsed.operands
  if (parsed.options.some(({ name }) => name === '-c')) {
    const text = staticText(first)?.startsWith('+') === true ? undefined : staticText(first)
    if (text === undefined) return hidden(`the shell text ${first?.text ?? ''} is known only when the command runs`)
    const traces = parsed.options.some(({ name, value }) => name === '-x' || value?.text === 'xtrace')
    // The words after the text become `$0`, `$1` and so on, and the text may print them.
    const given = judgeTexts(parsed.operands.slice(1)).facts
    const facts = traces ? [unknown('-x shows the values of variables'), ...given] : given
    return { facts, runs: [{ kind: 'script', text, shell: kind }] }
  }
  // A word that begins with a plus unsets an option or sets another one, so an earlier `-n` might not apply.
  if (
    first !== undefined &&
    (mayBeSeveral(first) || /^\+|^$/.test(first.kind === 'dynamic' ? first.prefix : first.text))
  )
    return hidden(`${first.text} may be an option of the shell`)
  // With `-n`, the shell only checks whether the script can be parsed.
  if (first !== undefined && parsed.options.some(({ name }) => name === '-n')) return judgeFiles([first])
  if (first !== undefined) return runsScript(first)
  if (context.input.from === 'text' && context.input.text !== undefined) {
    return { facts: [], runs: [{ kind: 'script', text: context.input.text, shell: kind }] }
  }
  return hidden('a shell runs the commands that it reads from standard input')
}

function hidden(reason: string): Judgement {
  return { facts: [unknown(reason)], opaque: reason }
}

const otherShell: Program = {
  source: 'zshmisc(1), fish(1), mksh(1), tcsh(1): their grammars are not understood here',
  judge: () => hidden('only scripts for bash and sh can be analysed'),
}

/** Shells, including those whose scripts can't be analysed here. */
export const shells: ProgramTable = {
  bash: shell('bash', 'bash(1), OPTIONS'),
  rbash: shell('bash', 'bash(1), RESTRICTED SHELL'),
  sh: shell('sh', 'sh(1), POSIX'),
  dash: shell('sh', 'dash(1)'),
  ash: shell('sh', 'busybox ash'),
  zsh: otherShell,
  fish: otherShell,
  ksh: otherShell,
  mksh: otherShell,
  tcsh: otherShell,
  csh: otherShell,
  pwsh: otherShell,
}
