/**
 * A pattern of the tables of words, as a regular expression. These patterns are long alternations, for which the linear-time checker takes too long. They are
 * only matched against sentences, which are cut to 600 characters, and their clauses.
 *
 * A group that may be left out, or occur at most three times, may occur four times instead: V8 compiles a group that occurs at most three times by writing
 * out the rest of the pattern for each number of times, which takes up to ten times as long as a loop.
 *
 * @param source as in a literal
 */
export function pattern(source: string, flags = ''): RegExp {
  return new RegExp(
    source.replace(/\)\?|\{0,[123]\}/g, (often) => (often === ')?' ? '){0,4}' : '{0,4}')),
    flags,
  )
}
