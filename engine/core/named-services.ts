import * as z from 'zod'

/** Not in Codex: a server outside the sandbox that commands reach at the same port of their own `localhost`, which may have another name. */
export const namedService = z.object({ name: z.string().optional(), host: z.string(), port: z.int() })

type NamedService = z.infer<typeof namedService>

/** Says where commands find a service, and where it is: `localhost:5432 (db) → db.example:5432`. */
export function describeService(service: NamedService): string {
  const host = service.host.includes(':') ? `[${service.host}]` : service.host
  return `${serviceInside(service)} → ${host}:${service.port}`
}

/** Says where commands find a service: `localhost:5432 (db)`. */
export function serviceInside({ name, port }: Omit<NamedService, 'host'>): string {
  return `localhost:${port}${name === undefined ? '' : ` (${name})`}`
}
