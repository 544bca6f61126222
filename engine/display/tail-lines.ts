/** How many characters of a line are shown, counted from its end. A line may be very long. */
const longestLine = 400

/**
 * Returns the last lines of a text that are not empty.
 *
 * @param text the end of an output. Its first line may be incomplete, so it is used only if all other lines are empty
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
