import { createHash } from 'node:crypto'

/** A content block as it is sent. */
export type Block = { readonly type: string } & Readonly<Record<string, unknown>>

/** The fields of a message that this module uses. */
type Message<B extends Block> = { readonly role: 'user' | 'assistant'; readonly content: readonly B[] }

/** A digest of everything before a point in a conversation. The digests of two points are equal only if the same content precedes both. */
export type Prefix = string

/** Returns the digest of what precedes all messages: the system text and the tools. */
export function prefixOf(front: unknown): Prefix {
  return digest(JSON.stringify(front))
}

/** Returns the digest of everything up to and including a block. `prefix` is the digest of everything before the block. */
export function after(prefix: Prefix, role: 'user' | 'assistant', block: Block): Prefix {
  return digest(`${prefix} ${role} ${known.get(block) ?? remember(block)}`)
}

const known = new WeakMap<Block, string>()

/** The seals of stored thinking blocks: for each block, the digest of everything up to and including the block. */
const seals = new WeakMap<Block, Prefix>()

/** Records the seal of a stored block and returns the block. */
export function sealed<B extends Block>(block: B, seal: Prefix | undefined): B {
  if (seal !== undefined) seals.set(block, seal)
  return block
}

/** Whether a block is a thinking block. The provider checks thinking blocks when they are sent back. */
export function isThought({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/**
 * Removes thinking blocks that have no seal, or before which anything has changed since the model wrote them. The provider refuses a request with
 * such a block, whatever the cause of the change: a compaction, a hook, different tools or different instructions. The returned `prefix` is the
 * digest of everything that is kept.
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

/** Returns the digest of a block's fields, whatever their order. Null fields and `cache_control` are ignored. */
function remember(block: Block): string {
  const fields = Object.entries(block).filter(([name, value]) => name !== 'cache_control' && value !== null)
  const text = digest(JSON.stringify(fields.toSorted(([one], [other]) => (one < other ? -1 : 1))))
  known.set(block, text)
  return text
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
