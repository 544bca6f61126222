import type { EventVerdict } from '../core/events.ts'
import type { Image } from '../core/model.ts'
import type { OutputLimit } from '../core/text/truncate.ts'

/** What the model gets back. `ok` is false when the call did not do what it was for. */
export type ToolResult = {
  readonly output: string
  readonly ok: boolean
  /** Shown to the model with the output. Absent: none. */
  readonly images?: readonly Image[]
  /** The Guardian ended the run. */
  readonly abort?: boolean
  /** Set where the Guardian refused the call, or what it came to: its verdict. */
  readonly refused?: EventVerdict
  /** The call could not be carried out at all, so that the calls beside it are not worth going on with. A throw means the same. */
  readonly broken?: boolean
  /** It is a command that ran and failed: what comes behind it in the same response was asked for as if it would not. */
  readonly commandFailed?: boolean
  /** How much of the output the model gets; beyond it the middle is cut out. Default: as configured. */
  readonly limit?: OutputLimit
  /** Where the whole output lies, when the tool has kept it already. */
  readonly outputFile?: string
}
