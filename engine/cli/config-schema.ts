import * as z from 'zod'
import { UserFile } from '../config/settings-schema.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { printJsonText } from './print.ts'

/** `agent config schema`: prints the JSON Schema of `config.toml`, for editors and for checks in CI. */
export function configSchema(): number {
  const schema = { title: 'config.toml of Portcullis', ...z.toJSONSchema(UserFile, { io: 'input' }) }
  printJsonText(JSON.stringify(schema, undefined, 2))
  return exitCodes.done
}
