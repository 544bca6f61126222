import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { directoriesBetween } from '../core/directories-between.ts'
import { readPlainFile } from '../core/read-plain-file.ts'
import { ignoredWhole, ignoring, type Ignored } from './ignored.ts'
import type { Project } from './read-project.ts'

/** Files with settings for other agents that this program never uses, even in a trusted repository; each with the reason. */
const neverRead: Readonly<Record<string, string>> = {
  '.codex/config.toml': 'it belongs to another program; settings for Portcullis go into .portcullis/config.toml',
}

/** Matches the names of variables that configure agents or models (such as a provider's address or key), or that say where a user's files are. */
const steering = /^(?:CODEX|PORTCULLIS|CLAUDE|OPENAI|ANTHROPIC|XDG)_|^HOME$/

const maxBytes = 64 * 1024

/** Lists the files and variables with which a repository configures agents and which this run ignores. */
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

/** Lists the variables of a `.env` file that concern agents. The program never loads the file. Its other variables aren't worth a notice. */
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
