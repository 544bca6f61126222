import * as z from 'zod'
import { readCredential } from './credential.ts'

/** Creates the schema of a policy's credentials. */
export function makeCredentialsSchema() {
  return z
    .array(
      z
        .strictObject({
          name: z.string().regex(/^[\w-]{1,64}$/, 'must consist of letters, digits, "-" and "_"'),
          hosts: z.array(z.string()),
          as: z.enum(['git', 'bearer', 'basic', 'header']),
          user: z.string().optional(),
          header: z.string().optional(),
          allow: z.array(z.string()),
        })
        .superRefine((credential, context) => {
          const read = readCredential(credential)
          if ('expected' in read) context.addIssue({ code: 'custom', path: [read.key], message: read.expected })
        }),
    )
    .superRefine((credentials, context) => {
      const seen = new Set<string>()
      for (const text of credentials.flatMap(({ hosts }) => hosts)) {
        const host = text.toLowerCase().replace(/:443$/, '')
        if (seen.has(host)) context.addIssue({ code: 'custom', message: `must not have two credentials for ${host}` })
        seen.add(host)
      }
    })
}
