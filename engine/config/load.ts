import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { UserError } from '../user-error.ts'
import { applyOverrides } from './overrides.ts'
import { ConfigFile } from './schema.ts'
import { nearest } from './nearest.ts'
import { parseToml } from './toml.ts'

/**
 * The configuration of a run: the user's file, then each `-c key=value` on top.
 *
 * @param configDir the user's configuration folder; a missing `config.toml` in it means no settings
 * @param overrides `key=value` texts in the order they were given, later ones win
 * @throws UserError `usage`, naming the file or option, the key, and what was expected there
 */
export function loadConfig(configDir: string, overrides: readonly string[]): ConfigFile {
  const path = join(configDir, 'config.toml')
  const fromFile = existsSync(path) ? validate(parseToml(readText(path), path), path) : {}
  if (overrides.length === 0) return fromFile
  return validate(applyOverrides(fromFile, overrides), '-c')
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UserError('usage', `${path}: can't be read: ${(error as Error).message}`, { cause: error })
  }
}

/** @param source what the messages name as the place of a wrong key: a file, or `-c` */
function validate(value: unknown, source: string): ConfigFile {
  const result = ConfigFile.safeParse(value)
  if (result.success) return result.data
  throw new UserError('usage', result.error.issues.map((issue) => `${source}: ${explain(issue)}`).join('\n'))
}

function explain(issue: z.core.$ZodIssue): string {
  const at = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys') return `key '${at}': ${issue.message}`
  const known = knownKeys(issue.path)
  return issue.keys
    .map((key) => {
      const near = nearest(key, known)
      const full = [...issue.path, key].join('.')
      return `unknown key '${full}'${near === undefined ? `; known here: ${known.join(', ')}` : `; did you mean '${near}'?`}`
    })
    .join('\n')
}

/** The keys that a table of the configuration may have. */
function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let schema: z.core.JSONSchema.JSONSchema = z.toJSONSchema(ConfigFile)
  for (const key of path) {
    const inner = schema.properties?.[String(key)]
    schema = typeof inner === 'object' ? inner : {}
  }
  return Object.keys(schema.properties ?? {})
}
