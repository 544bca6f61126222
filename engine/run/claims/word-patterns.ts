/**
 * Creates a regular expression from a pattern of the word tables. These patterns are long alternations, for which the checker in `test/architecture`
 * would need too long to prove that matching takes linear time. They are matched only against short texts, mostly sentences, which are cut to 600
 * characters.
 *
 * If a group is optional, or may occur up to three times, the regular expression lets it occur up to four times. V8 compiles a group that occurs at most
 * three times by repeating the rest of the pattern for each number of times, which takes up to ten times as long as a loop.
 *
 * @param source the pattern, as it would be written in a regular expression literal
 */
export function pattern(source: string, flags = ''): RegExp {
  return new RegExp(
    source.replace(/\)\?|\{0,[123]\}/g, (often) => (often === ')?' ? '){0,4}' : '{0,4}')),
    flags,
  )
}
