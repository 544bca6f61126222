import type { Mask } from './mask-secrets.ts'
import { outputLimitFor, withinLimit, type OutputLimits } from './output-limits.ts'
import { fits, truncateOutput, type OutputLimit } from './truncate.ts'

/** A result as far as its length matters. */
type Fitting = {
  readonly output: string
  /** Default: what the limits say. */
  readonly limit?: OutputLimit
  readonly outputFile?: string
}

/**
 * Cuts the middle out of a result that is longer than a model can use, and hides secrets in it. The whole of it is kept, and the cut
 * says where and how to read on.
 */
export function fitOutput<Result extends Fitting>(
  result: Result,
  {
    mask,
    kept,
    limits,
  }: { readonly mask: Mask; readonly kept: { keep(bytes: Uint8Array): string }; readonly limits: OutputLimits },
): Result {
  const limit = result.limit === undefined ? outputLimitFor(undefined, limits) : withinLimit(result.limit, limits)
  const output = mask(result.output)
  if (fits(output, limit)) return output === result.output ? result : { ...result, output }
  const file = result.outputFile ?? kept.keep(Buffer.from(output))
  return { ...result, output: truncateOutput(output, limit, readOnIn(file)).text, outputFile: file }
}

/** Where a whole output is, as a cut says it to the model. */
export function readOnIn(file: string): string {
  return `${file} (read_file reads on in it by offset and limit)`
}
