import { truncateMiddle } from './truncate.ts'

/** What a model is shown of one result, unless its tool says otherwise. */
const defaultTokens = 10_000

/** An estimate that every provider's tokenizer keeps to for source code and prose in Latin script. */
const unitsPerToken = 4

/** A result as far as its length matters. */
type Fitting = {
  readonly output: string
  /** Default: 10,000. */
  readonly maxTokens?: number
  readonly outputFile?: string
}

/**
 * Cuts the middle out of a result that is longer than a model can use. The whole of it is kept, and the cut says where.
 *
 * @param keep keeps a whole output and gives its path
 */
export function fitOutput<Result extends Fitting>(result: Result, keep: (bytes: Uint8Array) => string): Result {
  const limit = (result.maxTokens ?? defaultTokens) * unitsPerToken
  if (result.output.length <= limit) return result
  const file = result.outputFile ?? keep(Buffer.from(result.output))
  return { ...result, output: truncateMiddle(result.output, limit, file).text, outputFile: file }
}
