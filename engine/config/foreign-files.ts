import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { directoriesBetween } from '../core/directories-between.ts'
import { readPlainFile } from '../core/read-plain-file.ts'
import { ignoredWhole, ignoring, type Ignored } from './ignored.ts'
import type { Project } from './read-project.ts'

/** Files by which repositories configure agents, and that never count here, trusted or not. */
const neverRead: Readonly<Record<string, string>> = {
  '.codex/config.toml': 'another program’s; what shall count here goes into .portcullis/config.toml',
}

/** Variables that would lead an agent elsewhere: to another home, another provider, another key. */
const steering = /^(?:CODEX|PORTCULLIS|CLAUDE|OPENAI|ANTHROPIC|XDG)_|^HOME$/

const maxBytes = 64 * 1024

/** A repository's agent configuration that has no effect on this run. */
export function listForeignFiles(project: Project): readonly Ignored[] {
  return directoriesBetween(project.root, project.workspace).flatMap((directory) => {
    const present = (name: string): boolean => existsSync(join(directory, name))
    const never = Object.keys(neverRead).filter(present)
    return [
      ...never.map((name) => ignoredWhole(join(directory, name), neverRead[name] ?? '')),
      ...listVariables(join(directory, '.env')),
    ]
  })
}

/** A `.env` is never read for its variables; most have nothing to do with agents and are not worth a notice. */
function listVariables(path: string): readonly Ignored[] {
  if (!existsSync(path)) return []
  const text = readPlainFile(path, maxBytes)
  if (typeof text !== 'string') return []
  const names = text
    .split('\n')
    .map((line) =>
      line
        .slice(0, line.indexOf('=') + 1)
        .replace(/^\s*(?:export\s)?/, '')
        .replace('=', '')
        .trim(),
    )
    .filter((name) => /^\w+$/.test(name) && steering.test(name))
  return ignoring(path, [...new Set(names)], 'variables come from the environment, never from a file')
}
