import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Places } from '../places.ts'

/** The file that rules are added to which a person accepted: one among the user's own. */
export function acceptedRules(places: Places): string {
  return join(places.config, 'rules', 'accepted.rules')
}

/** Adds a rule to a rule file, making it where it isn't there. */
export function addRule(path: string, rule: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  appendFileSync(path, `${rule}\n`, { mode: 0o600 })
}
