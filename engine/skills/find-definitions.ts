import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import * as z from 'zod'
import { openTreeBudget, treeBounds, TreeTooLarge, type TreeBudget } from '../../sandbox/index.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import { readPlainFile } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'
import {
  AgentFields,
  CommandFields,
  SkillFields,
  type AgentDefinition,
  type Command,
  type Definitions,
  type Skill,
  type Written,
} from './definition.ts'
import { readFrontMatter, type MarkdownFile } from './front-matter.ts'
import { readToolAllowlist } from './tool-allowlist.ts'

/**
 * A folder that may contain `skills/`, `commands/` and `agents/`, and the prefix for the names of the definitions in them (such as `plugin:`; usually
 * empty).
 */
export type DefinitionFolder = { readonly path: string; readonly prefix: string }

/** The size limit for a definition's file, in bytes. */
const maxBytes = 256 * 1024
/** The maximum number of entries in a folder of skills, commands or agents. With more, none of the folder's definitions are used. */
const maxEntries = 2000
/** How many levels of folders are searched for commands, including `commands` itself. */
const maxDepth = 4

/**
 * Finds skills (`skills/NAME/SKILL.md`), commands (`commands/NAME.md`; a command in a subfolder is named `FOLDER:NAME`) and agents
 * (`agents/NAME.md`). A file whose front matter can't be read is skipped and reported: without its front matter, it would have no
 * restrictions.
 *
 * @param folders in order of precedence: if two definitions have the same name, the first one is used
 */
export async function findDefinitions(folders: readonly DefinitionFolder[]): Promise<Definitions> {
  const faults: string[] = []
  const sound = async <T extends Written>(kind: Kind, candidatesIn: CandidatesIn<T>): Promise<readonly T[]> => {
    const all: T[] = []
    for (const { read: readOne } of folders.flatMap(({ path, prefix }) =>
      found(join(path, kind), prefix, candidatesIn),
    )) {
      try {
        const one = await readOne()
        if (one.allowedTools !== undefined) readToolAllowlist(one.allowedTools, one.path)
        all.push(one)
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        faults.push(error.message)
      }
    }
    return distinct(all)
  }
  const found = <T>(root: string, prefix: string, candidatesIn: CandidatesIn<T>): readonly Candidate<T>[] => {
    try {
      return candidatesIn(root, prefix, openTreeBudget(root, { ...treeBounds, entries: maxEntries }))
    } catch (error) {
      if (!(error instanceof TreeTooLarge)) throw error
      faults.push(`${error.message}, so none of its definitions are used.`)
      return []
    }
  }
  return {
    skills: await sound('skills', skillsIn),
    commands: await sound('commands', commandsIn),
    agents: await sound('agents', agentsIn),
    faults,
  }
}

/** A definition whose file has been found but not read yet. */
type Candidate<T> = { readonly read: () => Promise<T> }

type Kind = 'skills' | 'commands' | 'agents'

/** Lists the definitions in a folder of one kind. */
type CandidatesIn<T> = (root: string, prefix: string, budget: TreeBudget) => readonly Candidate<T>[]

function skillsIn(root: string, prefix: string, budget: TreeBudget): readonly Candidate<Skill>[] {
  return entries(root, budget).flatMap(({ name: folder, path: directory }) => {
    const file = join(directory, 'SKILL.md')
    const readSkill = async (): Promise<Skill> => {
      const { data, body } = await read(file)
      const fields = checked(SkillFields, data, file)
      const { name = folder, description = firstLine(body), model, 'allowed-tools': allowedTools } = fields
      const { restrict = false } = fields
      return { kind: 'skill', name: `${prefix}${name}`, description, allowedTools, restrict, model, path: file, body }
    }
    return existsSync(file) ? [{ read: readSkill }] : []
  })
}

function commandsIn(root: string, prefix: string, budget: TreeBudget): readonly Candidate<Command>[] {
  return markdownBelow(root, maxDepth, budget).map((file) => ({
    read: async (): Promise<Command> => {
      const { data, body } = await read(file)
      const fields = checked(CommandFields, data, file)
      const name = relative(root, file).slice(0, -'.md'.length).split(sep).join(':')
      const {
        description = firstLine(body),
        model,
        'allowed-tools': allowedTools,
        'argument-hint': argumentHint,
        restrict = false,
      } = fields
      return {
        kind: 'command',
        name: `${prefix}${name}`,
        description,
        argumentHint,
        allowedTools,
        restrict,
        model,
        path: file,
        body,
      }
    },
  }))
}

function agentsIn(root: string, prefix: string, budget: TreeBudget): readonly Candidate<AgentDefinition>[] {
  return markdownBelow(root, 1, budget).map((file) => ({
    read: async (): Promise<AgentDefinition> => {
      const { data, body } = await read(file)
      const fields = checked(AgentFields, data, file)
      const { name = basename(file, '.md'), description = firstLine(body), model } = fields
      const allowedTools = fields['allowed-tools'] ?? fields.tools
      const own = model === 'inherit' ? undefined : model
      const what = { kind: 'agent', name: `${prefix}${name}`, description, allowedTools, restrict: true } as const
      return { ...what, model: own, path: file, body }
    },
  }))
}

async function read(file: string): Promise<MarkdownFile> {
  const text = readPlainFile(file, maxBytes)
  if (typeof text !== 'string') throw new UserError('usage', `${file}: ${text.reason}`)
  const parts = await readFrontMatter(text)
  if ('problem' in parts) throw new UserError('usage', `${file}:${parts.problem}`)
  return parts
}

function checked<Schema extends z.ZodType>(schema: Schema, data: unknown, file: string): z.output<Schema> {
  const result = schema.safeParse(data)
  if (result.success) return result.data
  const problems = result.error.issues.map((issue) => `${file}:1: '${issue.path.join('.')}': ${issue.message}`)
  throw new UserError('usage', problems.join('\n'))
}

/**
 * Lists a folder, in an order that is the same on every system. A path that can't be listed, for example because it doesn't exist or is a file, counts as an empty
 * folder.
 */
function entries(
  folder: string,
  budget: TreeBudget,
): readonly { readonly name: string; readonly path: string; readonly folder: boolean }[] {
  try {
    return budget
      .list(folder)
      .map(({ name, kind }) => ({ name: pathOfKey(name), isFolder: kind === 'directory' }))
      .map(({ name, isFolder }) => ({ name, path: join(folder, name), folder: isFolder }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (error instanceof TreeTooLarge) throw error
    return []
  }
}

function markdownBelow(folder: string, depth: number, budget: TreeBudget): readonly string[] {
  return entries(folder, budget).flatMap((entry) => {
    if (entry.folder) return depth > 1 ? markdownBelow(entry.path, depth - 1, budget) : []
    return entry.name.endsWith('.md') ? [entry.path] : []
  })
}

function firstLine(body: string): string {
  return (
    body
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.replace(/^#+ */, '')
      .trim() ?? ''
  )
}

function distinct<T extends { readonly name: string }>(found: readonly T[]): readonly T[] {
  const byName = new Map<string, T>()
  for (const one of found) if (!byName.has(one.name)) byName.set(one.name, one)
  return [...byName.values()]
}

/** The folder that contains a skill's own files. */
export function folderOf({ path }: Skill): string {
  return dirname(path)
}
