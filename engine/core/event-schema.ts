import * as z from 'zod'
import { RunEvent } from './events.ts'

/**
 * Returns the JSON Schema (2020-12) of an event, for programs in other languages that read events. It also allows fields that it doesn't name,
 * because fields may be added without a new `schema_version`.
 */
export function eventJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: 'An event of agent exec --json', ...z.toJSONSchema(RunEvent, { io: 'input' }) }
}
