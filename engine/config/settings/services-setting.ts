import * as z from 'zod'
import { parseService } from '../../../sandbox/index.ts'
import { faultOfList, isSameService } from '../services.ts'
import { networkKeys } from './network-keys.ts'
import { row } from './setting-row.ts'

const services = z
  .array(
    z.string().superRefine((text, context) => {
      const service = parseService(text)
      if ('expected' in service) context.addIssue({ code: 'custom', message: service.expected })
    }),
  )
  .superRefine((list, context) => {
    const fault = faultOfList(list)
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
  })

/** The setting that names the services which commands can reach. */
export const servicesSetting = row({
  group: 'sandbox',
  schema: services,
  about:
    'servers outside the sandbox that commands reach at the same port of their own `localhost`, as `[NAME=]HOST:PORT`: databases, containers, servers that are being developed. `NAME` is another name of that `localhost`. Host names are looked up once, on this machine. `--service` adds to the list',
  unset: 'none',
  saidBy: 'user',
  within: (asked = [], bound = []) => asked.every((text) => bound.some((other) => isSameService(text, other))),
  // Services are reached through the network, so fixing the network also fixes them.
  isFixedBy: (_, fixed) => networkKeys.has(fixed),
})
