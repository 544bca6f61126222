import { Place } from './place.ts'
import { Moves } from './route.ts'
import { parseShell } from './shell-syntax.ts'
import type { ShellWord } from './shell-word.ts'
import type { ShellScript, SimpleCommand } from './simple-command.ts'
import { scanShell } from './tokens/scan-shell.ts'
import { Variables } from './variables.ts'
import { Walk } from './walk-script.ts'

/**
 * If the tokenizer stops early, it has not checked the size of the whole text. The text is then passed to the parser only if it contains at most this
 * many opening delimiters, such as `$(` or `{`.
 */
const mostOpenings = 500
/** If the tokenizer stops early, the text is passed to the parser only if it has at most this many characters. */
const longestUnscanned = 32 * 1024

/** Whether a command makes the shell print each later command before running it, with the values of variables filled in. */
function traces({ words: [program, ...args] }: SimpleCommand): boolean {
  return program?.text === 'set' && args.some(({ text }) => /^-[a-zA-Z]*x|^xtrace$/.test(text))
}

/**
 * Explains which word a shell other than bash evaluates as arithmetic, running any commands in its subscripts: a side of a comparison in `test` (mksh(1)), the
 * number given to `exit` and similar built-ins, or a number for `printf` (ksh(1)). Undefined if none of these words may contain a command.
 */
function evaluatedNumber({ words: [program, ...args] }: SimpleCommand): string | undefined {
  const name = program?.text ?? ''
  const odd = args.find((word, at) => {
    if (isNumber(word)) return false
    if (name === 'test' || name === '[')
      return comparison.test(args[at + 1]?.text ?? '') || comparison.test(args[at - 1]?.text ?? '')
    if (name === 'printf')
      return at > 0 && (word.kind !== 'static' || word.text.includes('[')) && numeric.test(args[0]?.text ?? '')
    return countTakers.has(name)
  })
  return odd === undefined ? undefined : `${name} evaluates ${odd.text} as arithmetic in some shells`
}

const numeric = /%[^%a-zA-Z]*[a-zA-Z]*[diouxXeEfFgGaA]/
const comparison = /^-(?:eq|ne|lt|le|gt|ge)$/
const countTakers = new Set(['exit', 'return', 'break', 'continue', 'shift'])

/** Whether every shell reads a word as a number. */
function isNumber(word: ShellWord): boolean {
  return /^(?:[-+]?[0-9]+|"?\$[?#]"?)$/.test(word.text)
}

function isTooMuch(text: string): boolean {
  if (text.length > longestUnscanned) return true
  return (text.match(/[$<>@?*+!=]\(|\$[{[]|`|\(\(|<<|\{/g)?.length ?? 0) > mostOpenings
}

/**
 * Reads every simple command in a shell text, at any depth. `problems` lists what isn't understood; if there is any problem, the list of commands may be
 * incomplete. Our own tokenizer must confirm how the parser read the whole text. `place` is where the shell starts.
 */
export function readScript(
  text: string,
  shell: 'bash' | 'sh',
  place = Place.at('/', { workspace: '/', roots: [] }),
): ShellScript {
  const variables = new Variables(place.folders.map((folder) => place.absolute(folder) ?? ' ').join(''))
  const moves = new Moves()
  const scan = scanShell(text, shell)
  if (!scan.ok && (scan.excessive || isTooMuch(text)))
    return { commands: [], functions: new Set(), problems: [scan.reason], evaluations: [] }
  const parsed = parseShell(text)
  const first = new Walk(text, variables, shell === 'sh', place, moves)
  first.whole(parsed)
  // A value that is assigned at the end of a loop's body is still set when the body runs again, and so is the folder. So if there are variables or
  // changes of the folder, the first walk only collects them, and a second walk uses them.
  const walk = variables.isEmpty && !moves.any ? first : new Walk(text, variables, shell === 'sh', place, moves)
  variables.restart()
  if (walk !== first) walk.whole(parsed)
  const difference = scan.ok ? walk.coverage.difference(scan.tokens, text) : scan.reason
  if (variables.readsEnvironment && walk.commands.some(traces))
    walk.problem('set -x shows the values of the variables that the line reads')
  const evaluated = shell === 'sh' ? walk.commands.flatMap((command) => evaluatedNumber(command) ?? []) : []
  if (difference !== undefined) walk.problem(`a second check could not confirm how this text was parsed: ${difference}`)
  return {
    commands: walk.commands,
    functions: walk.functions,
    problems: [...walk.problems],
    evaluations: [...walk.evaluations, ...evaluated],
  }
}
