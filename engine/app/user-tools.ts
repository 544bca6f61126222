import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { homeDirectory } from '../../sandbox/index.ts'
import type { Tool } from '../tools/tool.ts'
import { UserError } from '../core/user-error.ts'

/** Checks that a value has the form of a tool that `defineTool` made. */
const LooksLikeTool = z.custom<Tool>((value) => {
  const tool = value as Partial<Tool> | null
  return typeof tool === 'object' && tool !== null && typeof tool.name === 'string' && typeof tool.check === 'function'
}, 'expected a tool created with defineTool from portcullis/engine')

/**
 * Loads tools that the user wrote: the default export of each `.js`, `.mjs`, `.ts` or `.mts` file in these folders is a tool or a list of tools. If a
 * compiled file is next to its TypeScript source, the compiled file is used. The code runs in this process with all of its rights, so only the user's
 * own configuration can name these folders.
 *
 * @throws UserError `usage` with the path, if a folder doesn't exist, a module can't be loaded, or a module exports anything else
 */
export async function loadUserTools(folders: readonly string[]): Promise<readonly Tool[]> {
  const tools: Tool[] = []
  for (const named of folders) {
    const folder = named === '~' || named.startsWith('~/') ? join(homeDirectory(), named.slice(1)) : named
    if (!existsSync(folder)) throw new UserError('usage', `tool_folders: ${folder} does not exist`)
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
  throw new UserError('usage', `${path}: its default export is not a tool: ${result.error.issues[0]?.message ?? ''}`)
}
