import type { Mask } from './mask-secrets.ts'
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
 * Cuts the middle out of a result that is longer than a model can use, and hides secrets in it. The whole of it is kept, and the cut
 * says where and how to read on.
 */
export function fitOutput<Result extends Fitting>(
  result: Result,
  { mask, kept }: { readonly mask: Mask; readonly kept: { keep(bytes: Uint8Array): string } },
): Result {
  const limit = (result.maxTokens ?? defaultTokens) * unitsPerToken
  const output = mask(result.output)
  if (output.length <= limit) return output === result.output ? result : { ...result, output }
  const file = result.outputFile ?? kept.keep(Buffer.from(output))
  return { ...result, output: truncateMiddle(output, limit, readOnIn(file)).text, outputFile: file }
}

/** Where a whole output is, as a cut says it to the model. */
export function readOnIn(file: string): string {
  return `${file} (read_file reads on in it by offset and limit)`
}
