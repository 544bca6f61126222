/**
 * A pattern of the tables of words, as a regular expression. These patterns are long alternations, for which the linear-time checker takes too long. They are
 * only matched against sentences, which are cut to 600 characters, and their clauses.
 *
 * @param source as in a literal
 */
export function pattern(source: string, flags = ''): RegExp {
  return new RegExp(source, flags)
}
