import type { Mask } from './mask-secrets.ts'
import { outputLimitFor, withinLimit, type OutputLimits } from './output-limits.ts'
import { fits, truncateOutput, type OutputLimit } from './truncate.ts'

/** The parts of a tool's result that are needed to limit its length. */
type Fitting = {
  readonly output: string
  /** How much of the output is shown. Default: the configured limit. */
  readonly limit?: OutputLimit
  readonly outputFile?: string
}

/**
 * Masks secrets in a result and, if it is too long for the model, cuts out its middle. The whole output is then stored in a file, unless it already
 * is in one, and a note at the cut says where the file is and how to read it.
 */
export function fitOutput<Result extends Fitting>(
  result: Result,
  {
    mask,
    kept,
    limits,
  }: {
    readonly mask: Mask
    readonly kept: { keep(bytes: Uint8Array): string | undefined }
    readonly limits: OutputLimits
  },
): Result {
  const limit = result.limit === undefined ? outputLimitFor(undefined, limits) : withinLimit(result.limit, limits)
  const output = mask(result.output)
  if (fits(output, limit)) return output === result.output ? result : { ...result, output }
  const file = result.outputFile ?? kept.keep(Buffer.from(output))
  const where = file === undefined ? undefined : readOnIn(file)
  return {
    ...result,
    output: truncateOutput(output, limit, where).text,
    ...(file === undefined ? {} : { outputFile: file }),
  }
}

/** Formats the path of the file that contains the whole output, for the note that replaces omitted text. It tells the model how to read on. */
export function readOnIn(file: string): string {
  return `${file} (to read on, call read_file with offset and limit)`
}
