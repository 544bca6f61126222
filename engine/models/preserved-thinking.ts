import { createHash } from 'node:crypto'

/** A content block as it goes over the wire. */
export type Block = { readonly type: string } & Readonly<Record<string, unknown>>

/** A message as far as it is looked at here. */
type Message<B extends Block> = { readonly role: 'user' | 'assistant'; readonly content: readonly B[] }

/** Stands for all that came before a place in a conversation: two are the same only where every block before is. */
export type Prefix = string

/** What stands before all messages: the system text and the tools. */
export function prefixOf(front: unknown): Prefix {
  return digest(JSON.stringify(front))
}

/** The prefix of what follows a block. */
export function after(prefix: Prefix, role: 'user' | 'assistant', block: Block): Prefix {
  return digest(`${prefix} ${role} ${known.get(block) ?? remember(block)}`)
}

const known = new WeakMap<Block, string>()

/** The seals of thinking blocks that were kept: what was the prefix behind each when it came. */
const seals = new WeakMap<Block, Prefix>()

/** Says of a block that was kept which prefix was behind it when it came. */
export function sealed<B extends Block>(block: B, seal: Prefix | undefined): B {
  if (seal !== undefined) seals.set(block, seal)
  return block
}

/** Whether a block is thought, which the provider checks when it is sent back. */
export function isThought({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/**
 * The messages without the thinking blocks that came with another conversation before them, and the prefix behind the last. Whatever
 * changed it (a compaction, other tools, other instructions, a hook), the provider would refuse the request for such a block.
 */
export function withoutUnbound<B extends Block, M extends Message<B>>(
  front: Prefix,
  messages: readonly M[],
): { readonly messages: readonly M[]; readonly prefix: Prefix } {
  let prefix = front
  const kept = messages.flatMap((message): M[] => {
    const content = message.content.filter((block) => {
      const next = after(prefix, message.role, block)
      if (isThought(block) && seals.get(block) !== next) return false
      prefix = next
      return true
    })
    if (content.length === message.content.length) return [message]
    return content.length === 0 ? [] : [{ ...message, content }]
  })
  return { messages: kept, prefix }
}

/** By its fields, in whatever order; those that are null say nothing. Its cache mark is no part of what was said. */
function remember(block: Block): string {
  const fields = Object.entries(block).filter(([name, value]) => name !== 'cache_control' && value !== null)
  const text = digest(JSON.stringify(fields.toSorted(([one], [other]) => (one < other ? -1 : 1))))
  known.set(block, text)
  return text
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
