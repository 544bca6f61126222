import type { Cached, TextBlock, UserBlock, WireMessage } from './messages-turns.ts'

/** The maximum number of breakpoints in one request (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). */
const mostBreakpoints = 4

const mark = { cache_control: { type: 'ephemeral' } } as const satisfies Cached

/** The parts of a request that can be cached, in the order of the cached prefix. */
type Parts<Tool extends { readonly name: string }> = {
  readonly tools: readonly Tool[]
  readonly instructions: readonly string[]
  readonly messages: readonly WireMessage[]
}

/** The parts of a request that can be cached, as fields of the request's body. Empty fields are left out. */
type CachedParts<Tool> = { tools?: (Tool & Cached)[]; system?: TextBlock[]; messages: WireMessage[] }

/**
 * Marks the places at which the provider writes the prompt cache. If there are more places than breakpoints, the places that come first in this list are
 * marked:
 *
 * 1. Our last two messages. This request writes the cache at the last one; the previous request wrote it at the one before. Both marks are needed, because the
 *    API looks back only a limited number of blocks, and parallel calls can have many results.
 * 2. The fixed instructions. The cached prefix up to this point includes all tools.
 * 3. The last of our own tools, because the tools of MCP servers differ from run to run.
 * 4. The description of the environment.
 */
export function cached<Tool extends { readonly name: string }>(parts: Parts<Tool>): CachedParts<Tool> {
  const { tools, instructions, messages } = parts
  const ours = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-2)
  const ownTools = tools.findLastIndex(({ name }) => !name.startsWith('mcp__'))
  const isDivided = ownTools !== -1 && ownTools < tools.length - 1
  let left = mostBreakpoints - ours.length - Math.min(instructions.length, 1)
  const marksTools = isDivided && left-- > 0
  const marksPlace = instructions.length > 1 && left > 0
  return {
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((tool, at) => (marksTools && at === ownTools ? { ...tool, ...mark } : tool)) }),
    ...(instructions.length === 0
      ? {}
      : {
          system: instructions.map((text, at) => ({
            type: 'text' as const,
            text,
            ...(at === 0 || marksPlace ? mark : {}),
          })),
        }),
    messages: messages.map((message, at) => {
      const last = message.content.at(-1)
      if (message.role !== 'user' || last === undefined || !ours.includes(at)) return message
      // Later requests send this message without the cache mark, so the original stays unmarked.
      return { role: 'user', content: [...message.content.slice(0, -1), { ...last, ...mark }] as UserBlock[] }
    }),
  }
}
