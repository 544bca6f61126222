import type { EventVerdict } from '../core/events.ts'
import type { Image } from '../core/model.ts'
import type { OutputLimit } from '../core/text/truncate.ts'

/** The result for the model. `ok` is false when the call failed. */
export type ToolResult = {
  readonly output: string
  readonly ok: boolean
  /** Shown to the model with the output. Absent: none. */
  readonly images?: readonly Image[]
  /** The Guardian ended the run. */
  readonly abort?: boolean
  /** Set where the Guardian denied the call, or its outcome: its verdict. */
  readonly refused?: EventVerdict
  /** The call could not be carried out at all, so that its parallel calls are not worth finishing. A throw means the same. */
  readonly broken?: boolean
  /** A command that ran and failed: later calls of the same response expected its success. */
  readonly commandFailed?: boolean
  /** How much of the output the model gets; beyond it the middle is cut out. Default: as configured. */
  readonly limit?: OutputLimit
  /** The file with the whole output, when the tool has stored it already. */
  readonly outputFile?: string
}
