import { quotesIn } from './quoted.ts'
import { isTestCommand } from './run-evidence.ts'
import { failingTests, isTestSummary } from './test-output.ts'
import { pattern } from './word-patterns.ts'

/** The first line of a code block that may show a session in a shell, or a program's output. */
const shellBlock =
  /^(?:```|~~~)\s*(?:sh|bash|zsh|shell|console|text|txt|plain|plaintext|terminal|shell-session|shellsession|output)?$/i

/** A shell's prompt before a command, such as `$` or `user@host:~$`. */
const prompt = pattern(String.raw`^(?:[$%❯➜»]|[\w@:~/.-]{1,40} ?[$%]) `)

/** Words above a code block which show that the block doesn't contain the last result of this run. */
const otherTime = pattern(
  String.raw`\b(?:before|previously|earlier|at first|initially|originally|used to|main|master|baseline|without|expected|expect|should|would|could|can|you|your|please|to (?:run|reproduce|verify|check|test|try)|issue|ticket|report|example|readme|docs?|ci|pipeline|guide|section|snippet|template|(?:added|wrote|put|inserted|append\w*) (?:this|that|the following|it)|like (?:this|so|that)|looks? like|formats?|says? that|if|once|when|log|next|later)\b`,
)
const aboutTests = /\b(?:tests?|suite|specs)\b/
/** A line in which a program reports that tests passed. Other parts of the output may report failures. */
const passing = pattern(
  String.raw`^ok\s+\S+\s|^PASS(?:ED)?\b|^BUILD SUCCESS|\b[1-9]\d* (?:passed|passing|succeeded)\b|\ball tests passed\b|^test result: ok\b|\bexecuted \d+ tests?, with 0 failures\b|\b[1-9]\d* tests? completed\b|\b0 (?:failures|failed|failing)\b`,
  'i',
)
/** Words with which some programs report failures that they don't count. */
const alsoFailing = /\bcommand (?:not found|failed)\b|^error\b|\bexit(?:ed)? (?:code|status|with)\b/im

/**
 * What a code block claims if it shows output in which all tests pass: the command, if the block or the line above names one, and the result. Undefined if the
 * block shows something else, or may not be about this run's tests.
 *
 * @param opening the line that begins the block, such as ```` ```console ````
 * @param lines the lines in the block
 * @param above the last line before the block
 */
export function shownRun(opening: string, lines: readonly string[], above: string): string | undefined {
  if (!shellBlock.test(opening) || otherTime.test(above.toLowerCase())) return undefined
  const filled = lines.filter((line) => line !== '')
  const at = filled.findLastIndex((line, index) => prompt.test(line) || (index === 0 && isBare(line)))
  const output = filled.slice(at + 1)
  const result = output.findLast(isPassing)
  const whole = output.join('\n')
  if (result === undefined || failingTests.test(whole) || alsoFailing.test(whole)) return undefined
  if (at >= 0) {
    const command = (filled[at] ?? '').replace(prompt, '').trim()
    return isTestCommand(command) ? `\`${command.replaceAll('`', "'")}\`: ${result}` : undefined
  }
  const [quote = ''] = quotesIn(above)
  if (isTestCommand(quote)) return `\`${quote}\`: ${result}`
  return above.endsWith(':') && aboutTests.test(above.toLowerCase()) ? result : undefined
}

/**
 * Returns the command in a code block, if the block contains nothing else and the command runs tests. The words after the block may be about the
 * command.
 */
export function commandAlone(lines: readonly string[]): string | undefined {
  const [line = '', ...rest] = lines.filter((each) => each !== '')
  const command = line.replace(prompt, '').trim()
  return rest.length === 0 && isTestCommand(command) ? command : undefined
}

function isPassing(line: string): boolean {
  return passing.test(line) || (isTestSummary(line) && !failingTests.test(line))
}

/** Whether a line without a prompt is a command that runs tests, rather than the beginning of a program's output. */
function isBare(line: string): boolean {
  return /^[a-z./][^:]*$/.test(line) && !isPassing(line) && isTestCommand(line) && !/^(?:running|ran)\b/.test(line)
}
