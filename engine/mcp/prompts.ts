import { splitWords } from '../../policies/index.ts'
import { UserError } from '../core/user-error.ts'
import type { McpPrompt } from './connection.ts'
import type { McpServers } from './servers.ts'

/** Whether the text that the user typed invokes a prompt of an MCP server, as in `/mcp__server__name words`. */
export function namesServerPrompt(typed: string): boolean {
  return /^\/mcp__\S/.test(typed)
}

/**
 * Expands a prompt such as `/mcp__server__name words`: the server generates the text from the words. The words are the prompt's
 * arguments in order; the last argument gets all remaining words.
 *
 * @param servers undefined if none is configured
 * @throws UserError `usage` if the server or the prompt doesn't exist, the words don't fit the prompt's arguments, or the server fails
 */
export async function expandServerPrompt(
  typed: string,
  servers: McpServers | undefined,
  signal: AbortSignal,
): Promise<string> {
  const [called = '', rest = ''] = split(typed)
  const known = servers?.states().map(({ server }) => server.name) ?? []
  const server = known.find((name) => called.startsWith(`/mcp__${name}__`))
  if (servers === undefined || server === undefined) {
    const list = known.length === 0 ? 'no MCP server is configured' : `configured servers: ${known.join(', ')}`
    throw new UserError(
      'usage',
      `There is no prompt ${called} (${list}). To send the text as it is, put a space in front of it.`,
    )
  }
  try {
    const connection = await servers.connection(server)
    const prompts = await connection.listPrompts()
    const prompt = prompts.find(({ name }) => called === commandOf(server, name))
    if (prompt === undefined) {
      const list = prompts.map((one) => usageOf(server, one))
      const offered = list.length === 0 ? 'the server offers none' : `the server offers ${list.join(', ')}`
      throw new UserError('usage', `There is no prompt ${called}: ${offered}.`)
    }
    return await connection.getPrompt(prompt.name, argumentsOf(prompt, rest, server), signal)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError('usage', `${called}: ${(error as Error).message}`, { cause: error })
  }
}

function split(typed: string): readonly string[] {
  return /^(\S+)\s*([^]*)$/.exec(typed.trim())?.slice(1) ?? []
}

/** Returns what a user types to call a prompt. It contains only characters that need no quotes. */
function commandOf(server: string, prompt: string): string {
  return `/mcp__${server}__${prompt.replace(/[^\w.-]/g, '_')}`
}

function usageOf(server: string, { name, arguments: parameters }: McpPrompt): string {
  const words = parameters.map((one) => (one.required ? one.name.toUpperCase() : `[${one.name.toUpperCase()}]`))
  return [commandOf(server, name), ...words].join(' ')
}

function argumentsOf(prompt: McpPrompt, rest: string, server: string): Readonly<Record<string, string>> {
  const { arguments: parameters } = prompt
  const words = rest === '' ? [] : (splitWords(rest) ?? rest.split(/\s+/))
  const values = parameters.map((_, at) =>
    at < parameters.length - 1 ? words[at] : parameters.length === 1 ? rest : words.slice(at).join(' '),
  )
  const missing = parameters.filter(({ required }, at) => required && (values[at] ?? '') === '')
  if (missing.length > 0 || (parameters.length === 0 && rest !== '')) {
    const why =
      missing.length > 0
        ? `required, but not given: ${missing.map(({ name }) => name).join(', ')}`
        : 'it takes no arguments'
    throw new UserError('usage', `${commandOf(server, prompt.name)}: ${why}; expected ${usageOf(server, prompt)}`)
  }
  const given = parameters.flatMap(({ name }, at) => {
    const value = values[at] ?? ''
    return value === '' ? [] : [[name, value] as const]
  })
  return Object.fromEntries(given)
}
