import * as z from 'zod'
import { counted } from './text/counted.ts'
import { oneLine } from './text/one-line.ts'

/** Not in Codex: what a credential was used for, with the bytes of the bodies. `failed`: no answer, or a status from 400. */
export const credentialCounts = z.object({
  credential: z.string(),
  host: z.string(),
  operation: z.string(),
  uses: z.int(),
  failed: z.int(),
  bytes_sent: z.int(),
  bytes_received: z.int(),
})

/** Describes the uses of a credential for people. `isBad`: all failed. */
export function describeUse(used: z.infer<typeof credentialCounts>): {
  readonly words: string
  readonly isBad: boolean
} {
  const { credential, host, operation, uses, failed, bytes_sent: sent, bytes_received: received } = used
  const words = [
    `${counted(uses, 'use')}${failed === 0 ? '' : ` (${failed} failed)`}`,
    `${counted(sent, 'byte')} sent`,
    `${counted(received, 'byte')} received`,
  ]
  return { words: `${oneLine(`${credential} for ${host}: ${operation}`)}: ${words.join(', ')}`, isBad: failed === uses }
}
