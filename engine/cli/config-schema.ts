import process from 'node:process'
import * as z from 'zod'
import { UserFile } from '../config/settings-schema.ts'
import { exitCodes } from '../core/exit-codes.ts'

/** `agent config schema`: prints the JSON Schema of `config.toml`, for editors and for checks in CI. */
export function configSchema(): number {
  const schema = { title: 'config.toml of Portcullis', ...z.toJSONSchema(UserFile, { io: 'input' }) }
  process.stdout.write(`${JSON.stringify(schema, undefined, 2)}\n`)
  return exitCodes.done
}
