import type { EventVerdict } from '../core/events.ts'
import type { Image } from '../core/model.ts'
import type { OutputLimit } from '../core/text/truncate.ts'

/** The result of a tool call. `ok` is false if the call failed. */
export type ToolResult = {
  readonly output: string
  readonly ok: boolean
  /** Images that the model gets with the output. Absent: none. */
  readonly images?: readonly Image[]
  /** Whether the Guardian decided to end the run. Absent: it didn't. */
  readonly abort?: boolean
  /** The Guardian's verdict, if it denied the call or its outcome. */
  readonly refused?: EventVerdict
  /**
   * Whether the call could not be carried out at all. If so, parallel calls are not worth finishing. Throwing an error from the tool has the same effect.
   */
  readonly broken?: boolean
  /**
   * Whether the call was a command that ran and failed. If so, later calls in the same response that may change something are skipped, because they
   * may rely on the command's success.
   */
  readonly commandFailed?: boolean
  /** Why the run can't go on after this call, such as a full disk: what follows could not be recorded. Absent: it can. */
  readonly fault?: Error
  /** Whether the call did nothing but hand out work, or ask about work that other calls do. Those are counted. Absent: it did something itself. */
  readonly delegated?: true
  /** How much of the output the model gets. If there is more, the middle is cut out. Default: as configured. */
  readonly limit?: OutputLimit
  /** The file with the full output, if the tool has already stored it. */
  readonly outputFile?: string
}
