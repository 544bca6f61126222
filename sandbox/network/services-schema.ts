import * as z from 'zod'
import { faultOfServices, parseService, writeService } from './service.ts'

/** Creates the schema of a policy's services. Each is written as `[NAME=]HOST:PORT`, or in the form that parsing returns. */
export function makeServicesSchema() {
  const parsedService = z.strictObject({
    name: z.string().optional(),
    host: z.string(),
    port: z.int(),
    addresses: z.array(z.union([z.ipv4(), z.ipv6()])).optional(),
  })
  return z
    .array(
      z.union([z.string(), parsedService]).transform((given, context) => {
        const service = parseService(typeof given === 'string' ? given : writeService(given))
        if ('expected' in service) {
          context.addIssue({ code: 'custom', message: service.expected })
          return z.NEVER
        }
        return typeof given === 'string' || given.addresses === undefined
          ? service
          : { ...service, addresses: given.addresses }
      }),
    )
    .superRefine((list, context) => {
      const fault = faultOfServices(list)
      if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
    })
}
