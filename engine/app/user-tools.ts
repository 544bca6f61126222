import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { homeDirectory } from '../../sandbox/index.ts'
import type { Tool } from '../tools/tool.ts'
import { UserError } from '../core/user-error.ts'

/** A tool made by `defineTool`, as far as it can be recognised from outside. */
const LooksLikeTool = z.custom<Tool>((value) => {
  const tool = value as Partial<Tool> | null
  return typeof tool === 'object' && tool !== null && typeof tool.name === 'string' && typeof tool.check === 'function'
}, 'expected a tool made by defineTool of portcullis/engine')

/**
 * Loads tools that the user wrote: each `.js`, `.mjs`, `.ts` or `.mts` file of these folders, whose default export is a tool or a list of them.
 * What was compiled from TypeScript is taken instead of its source beside it. Their code runs in this process with all its rights, so only the user's own configuration can name such folders.
 *
 * @throws UserError `usage` naming the file, for a folder that doesn't exist, a module that can't be loaded or exports something
 *   else
 */
export async function loadUserTools(folders: readonly string[]): Promise<readonly Tool[]> {
  const tools: Tool[] = []
  for (const named of folders) {
    const folder = named === '~' || named.startsWith('~/') ? join(homeDirectory(), named.slice(1)) : named
    if (!existsSync(folder)) throw new UserError('usage', `tool_folders: ${folder} is not there`)
    for (const name of modulesIn(readdirSync(folder))) tools.push(...(await loadFile(join(folder, name))))
  }
  return tools
}

function modulesIn(names: readonly string[]): readonly string[] {
  const isDeclaration = (name: string): boolean => /\.d\.m?ts$/.test(name)
  const isCompiled = (name: string): boolean => /\.m?ts$/.test(name) && names.includes(`${name.slice(0, -2)}js`)
  const modules = names.filter((name) => /\.m?[jt]s$/.test(name) && !isDeclaration(name) && !isCompiled(name))
  return modules.toSorted()
}

async function loadFile(path: string): Promise<readonly Tool[]> {
  let exported: unknown
  try {
    exported = ((await import(pathToFileURL(path).href)) as { readonly default?: unknown }).default
  } catch (error) {
    throw new UserError('usage', `${path}: can't be loaded: ${(error as Error).message}`, { cause: error })
  }
  const result = z.array(LooksLikeTool).safeParse(Array.isArray(exported) ? exported : [exported])
  if (result.success) return result.data
  throw new UserError('usage', `${path}: its default export is no tool: ${result.error.issues[0]?.message ?? ''}`)
}
