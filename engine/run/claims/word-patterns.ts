/**
 * A pattern of the tables of words, as a regular expression. The tables are long alternatives, which the prover of linear time doesn't get to the end
 * of; they are only compared with sentences, which are cut to 600 characters, and with clauses of them.
 *
 * @param source as in a literal
 */
export function pattern(source: string, flags = ''): RegExp {
  return new RegExp(source, flags)
}
