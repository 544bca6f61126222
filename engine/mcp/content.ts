import type { Image } from '../core/model.ts'
import type { McpCallResult } from './connection.ts'

type Block = { readonly type: string; readonly [key: string]: unknown }

/** Converts the parts of a call's result to text and images, which a model can read. */
export function contentOf(blocks: readonly Block[], structured: unknown): Omit<McpCallResult, 'isError'> {
  const images: Image[] = []
  const texts = blocks.map((block): string => {
    switch (block.type) {
      case 'text':
        return String(block['text'])
      case 'image':
        images.push({ mediaType: String(block['mimeType']), data: String(block['data']) })
        return '[an image, attached]'
      case 'audio':
        return `[audio, ${String(block['mimeType'])}, not shown]`
      case 'resource': {
        const { uri, text, mimeType } = block['resource'] as Readonly<Record<string, unknown>>
        return typeof text === 'string' ? `${String(uri)}:\n${text}` : `[${String(uri)}, ${String(mimeType)}, not text]`
      }
      case 'resource_link':
        return `[resource ${String(block['uri'])}: ${String(block['name'])}]`
      default:
        return `[content of type ${block.type}, not shown]`
    }
  })
  const text = texts.join('\n')
  return { text: text === '' && structured !== undefined ? JSON.stringify(structured) : text, images }
}
