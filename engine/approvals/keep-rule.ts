import { appendFileSync, existsSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { makeDirectories } from '../../sandbox/index.ts'
import type { ProposedRule } from '../../policies/index.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { readUserText } from '../core/read-plain-file.ts'

/** The files in the user's configuration folder to which permanent approvals are added: one for rules, and one for permissions in Claude Code's format. */
export function acceptedFiles(places: AppPaths): Readonly<Record<ProposedRule['kind'], string>> {
  return { rule: join(places.config, 'rules', 'accepted.rules'), permission: join(places.config, 'permissions.json') }
}

const largestFile = 4 * 1024 * 1024

const permissionFile = z.looseObject({
  permissions: z.looseObject({ allow: z.array(z.string()).default([]) }).default({ allow: [] }),
})

/**
 * Adds a rule that a person has accepted to the file for rules of its kind. The file is created if it is missing. Throws if the file can't be read or written.
 */
export function keepRule(places: AppPaths, { kind, text }: ProposedRule): void {
  const path = acceptedFiles(places)[kind]
  makeDirectories(dirname(path))
  if (kind === 'rule') return appendFileSync(path, `${text}\n`, { mode: 0o600 })
  const before: unknown = existsSync(path) ? JSON.parse(readUserText(path, largestFile)) : {}
  const file = permissionFile.parse(before)
  const allow = [...file.permissions.allow, text]
  const after = { ...file, permissions: { ...file.permissions, allow } }
  // The new file is renamed into place, because another run may be reading the old one.
  writeFileSync(`${path}.new`, `${JSON.stringify(after, undefined, 2)}\n`, { mode: 0o600 })
  return renameSync(`${path}.new`, path)
}
