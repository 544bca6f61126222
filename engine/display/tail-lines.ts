/** The end of one line, which may be endless. */
const longestLine = 400

/**
 * The last lines of a text that have anything in them.
 *
 * @param text the end of an output. Its first line may be cut, so it counts only where it is the only one
 */
export function lastLines(text: string, count: number): readonly string[] {
  const [first = '', ...others] = text.split('\n')
  const whole = others.some((line) => line.trim() !== '') ? others : [first]
  return whole
    .map((line) => line.trimEnd().slice(-longestLine))
    .filter((line) => line !== '')
    .slice(-count)
    .map((line) => line.replaceAll('\t', '  '))
}
