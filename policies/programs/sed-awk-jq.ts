import { readOnly, unknown, type Fact } from '../commands/facts.ts'
import { optionTable, parseArguments, type ParsedArguments } from '../commands/parse-options.ts'
import { literal, mayBeSeveral, staticText, type ShellWord } from '../commands/shell-word.ts'
import type { Place } from '../commands/place.ts'
import { findSensitive } from '../commands/sensitive-paths.ts'
import { findAwkEffect } from './awk-program.ts'
import { findJqEffect } from './jq-filter.ts'
import { join, judgeFiles, judgeOptions, judgeTexts } from './judges.ts'
import type { JudgeContext, Judgement, Program, ProgramTable } from './program-table.ts'
import { findSedEffect } from './sed-script.ts'

const sedOptions = optionTable(
  '-n -E -r -e: -s -u -z -l: -i? --quiet --silent --regexp-extended --expression: --separate --unbuffered --null-data --posix --debug --line-length: --sandbox --in-place?',
)

function judgeSed(args: readonly ShellWord[], { place }: JudgeContext): Judgement {
  const parsed = parseArguments(args, sedOptions, { letters: 'getopt' })
  // On some systems `-l` has no value, and the next word is the script.
  if (args.some(({ text }, at) => /^-[a-zA-Z]*l$/.test(text) && !/^[0-9]+$/.test(args[at + 1]?.text ?? '')))
    return { facts: [unknown('-l may or may not have a value')] }
  const rewrites = (options: readonly string[]): string | undefined =>
    options.some((name) => name === '-i' || name === '--in-place') ? 'rewrites its files' : undefined
  return judgeFilter(parsed, ['-e', '--expression'], findSedEffect, rewrites, place)
}

const awkOptions = optionTable(
  '-F: -v: -b -c -C -S -t -r --field-separator: --assign: --posix --traditional --re-interval --csv --characters-as-bytes --sandbox --non-decimal-data',
)

function judgeAwk(args: readonly ShellWord[]): Judgement {
  // gawk opens a network connection for a file name that begins with `/inet`.
  const socket = args.find((word) => (word.kind === 'dynamic' ? word.prefix : word.text).includes('/inet'))
  if (socket !== undefined) return { facts: [unknown(`${socket.text} may open a network connection`)] }
  return judgeFilter(parseArguments(args, awkOptions, { letters: 'getopt', stopAtOperand: true }), [], findAwkEffect)
}

const jqOptions = optionTable(
  '-r -c -s -n -e -S -M -C -a -j -R --raw-output --compact-output --slurp --null-input --exit-status --sort-keys --tab --indent: --raw-input --join-output --stream --monochrome-output --color-output --ascii-output --seq --unbuffered --raw-output0',
)

function judgeJq(args: readonly ShellWord[]): Judgement {
  // `--arg NAME VALUE` takes two values, which are neither options nor files.
  const plain = args.filter(
    (_, at) => ![args[at], args[at - 1], args[at - 2]].some((word) => /^--arg(?:json)?$/.test(word?.text ?? '')),
  )
  if (
    args.some(
      (word, at) => /^--arg(?:json)?$/.test(word.text) && (args[at + 1] === undefined || args[at + 2] === undefined),
    )
  ) {
    return { facts: [unknown('--arg lacks its values')] }
  }
  const several = args.find(
    (word, at) =>
      mayBeSeveral(word) && [args[at - 1], args[at - 2]].some((before) => /^--arg(?:json)?$/.test(before?.text ?? '')),
  )
  if (several !== undefined) return { facts: [unknown(`${several.text} after --arg may expand to several words`)] }
  return join([
    judgeFilter(parseArguments(plain, jqOptions, { letters: 'getopt' }), [], findJqEffect),
    judgeTexts(args),
  ])
}

const yqOptions = optionTable(
  '-r -P -C -M -e -N -n -o: -p: --prettyPrint --output-format: --input-format: --no-doc --exit-status --unwrapScalar',
)

function judgeYq(args: readonly ShellWord[]): Judgement {
  const verb = staticText(args[0])
  const rest = verb === 'eval' || verb === 'e' || verb === 'ea' || verb === 'eval-all' ? args.slice(1) : args
  const parsed = parseArguments(rest, yqOptions, { letters: 'getopt' })
  // If a file with the name of the first operand exists, yq reads that file instead of evaluating the operand.
  const named = parsed.ok ? parsed.operands.slice(0, 1) : []
  return join([judgeFilter(parsed, [], findJqEffect), { alarms: judgeFiles(named).alarms ?? [], facts: [] }])
}

/**
 * Judges a program whose first operand, or the value of certain options, is a script to be judged. The other operands are files. `findEffect` returns
 * the reason why the script might do more than read and print, or the files that the script reads.
 */
function judgeFilter(
  parsed: ParsedArguments,
  scriptOptions: readonly string[],
  findEffect: (script: string) => string | readonly string[] | undefined,
  writes: (options: readonly string[]) => string | undefined = () => undefined,
  place?: Place,
): Judgement {
  if (!parsed.ok) return { facts: [unknown(parsed.reason)] }
  const given = parsed.options.filter(({ name }) => scriptOptions.includes(name)).map(({ value }) => value)
  const [first, ...rest] = parsed.operands
  const scripts = given.length > 0 ? given : [first]
  const files = given.length > 0 ? parsed.operands : rest
  const texts = scripts.map((script) => staticText(script))
  if (texts.some((text) => text === undefined))
    return { facts: [unknown('the program text is known only when the command runs')] }
  // Whether a backslash continues a text from the end of one script in the next script differs between seds.
  if (texts.slice(0, -1).some((text) => text?.endsWith('\\')))
    return { facts: [unknown('one of several program texts ends with a backslash')] }
  const effect = findEffect(texts.join('\n'))
  const facts: Fact[] = [typeof effect === 'string' ? unknown(effect) : readOnly]
  const read = typeof effect === 'string' ? [] : (effect ?? []).map(literal)
  const outside = read.find((word) => place?.owns(word) !== true && findSensitive(word.text) === undefined)
  if (outside !== undefined) facts.push(unknown(`the script reads ${outside.text}, which is not in the workspace`))
  const rewriting = writes(parsed.options.map(({ name }) => name))
  if (rewriting !== undefined) facts.push({ class: 'writes', paths: files.map(({ text }) => text) })
  const others = parsed.options.filter(({ name }) => !scriptOptions.includes(name))
  return join([{ facts }, judgeOptions(others), judgeFiles([...files, ...read])])
}

function filter(source: string, judge: Program['judge']): Program {
  return { source, judge }
}

/** Programs that read a script from the command line. */
export const filters: ProgramTable = {
  sed: filter('sed(1), without -f, because a script in a file is not examined', judgeSed),
  gsed: filter('sed(1)', judgeSed),
  awk: filter('awk(1): not -f, -i, -l, -E, -o, -d, -p', judgeAwk),
  gawk: filter('gawk(1)', judgeAwk),
  mawk: filter('mawk(1)', judgeAwk),
  nawk: filter('awk(1)', judgeAwk),
  jq: filter('jq(1): not -f, -L, --slurpfile, --rawfile', judgeJq),
  yq: filter('yq by mikefarah, without -i and -s, which write files', judgeYq),
}
