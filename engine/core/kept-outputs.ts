import { readFileSync } from 'node:fs'
import { isDiskFault } from './disk-fault.ts'
import type { Mask } from './text/mask-secrets.ts'
import { OutputBuffer } from './text/output-buffer.ts'

/** The quota for all stored outputs of a run, in bytes. */
const quotaBytes = 256 * 1024 * 1024

/** How many bytes of an output may be stored even if less than that is left of the quota. */
const beyondQuotaBytes = 64 * 1024

/**
 * Stores the outputs that were too long to show to the model, whole as long as a quota allows it. They are stored in the session's folder, which no
 * command can read. The model reads them through this class, which gives access to these files only and masks the environment's secrets.
 */
export class KeptOutputs {
  readonly #keep: (bytes: Uint8Array) => string
  readonly #mask: Mask
  readonly #paths = new Set<string>()
  #bytes = 0

  readonly #quota: number

  /**
   * @param keep writes a file and returns its path
   * @param quota the limit for all outputs together, in bytes. Default: 256 MiB
   */
  constructor(keep: (bytes: Uint8Array) => string, mask: Mask, quota = quotaBytes) {
    this.#keep = keep
    this.#mask = mask
    this.#quota = quota
  }

  /** Stores an output and returns its file's path; undefined if no disk takes it, which must not cost the result of a call that was made. If the rest of the quota is too small for it, only its beginning and its end are stored. */
  keep(output: Uint8Array): string | undefined {
    const buffer = new OutputBuffer(Math.max(this.#quota - this.#bytes, beyondQuotaBytes))
    // The bytes are read as latin1, which preserves every byte, whatever the encoding of the text.
    buffer.push(Buffer.from(this.#mask(Buffer.from(output).toString('latin1')), 'latin1'))
    const bytes = buffer.toBytes()
    try {
      const path = this.#keep(bytes)
      this.#bytes += bytes.length
      this.#paths.add(path)
      return path
    } catch (error) {
      if (isDiskFault(error)) return undefined
      throw error
    }
  }

  /** Returns a stored output. Undefined if the path isn't that of a stored output. */
  read(path: string): Buffer | undefined {
    return this.#paths.has(path) ? readFileSync(path) : undefined
  }
}
