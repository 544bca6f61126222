import * as z from 'zod'
import { serviceInstead } from '../../../sandbox/index.ts'
import { openPresets } from '../host-presets.ts'
import { serviceAdvice } from '../services.ts'

/** The schema of the list of hosts that commands can reach. */
export const allowedHosts = z
  .array(
    z
      .union([
        z.string().min(1),
        /** A host, and whether its address may be in a private network. */
        z.strictObject({ host: z.string().min(1), allow_private: z.boolean() }),
      ])
      .superRefine((entry, context) => {
        const service = serviceInstead(typeof entry === 'string' ? entry : entry.host)
        if (service !== undefined) context.addIssue({ code: 'custom', message: serviceAdvice(service) })
      }),
  )
  .min(1)
  .transform(openPresets)
