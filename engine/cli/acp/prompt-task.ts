import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { RunRequest } from '../../app/run-request.ts'

const resource = z.looseObject({ uri: z.string(), text: z.string().optional() })

/** A part of a prompt. */
export const block = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal('resource_link'), uri: z.string() }),
  z.looseObject({ type: z.literal('resource'), resource }),
])

/** What a client's prompt says and shows. */
export function promptTask(blocks: readonly z.infer<typeof block>[]): Extract<RunRequest['task'], { type: 'prompt' }> {
  const said = blocks.map((each) => {
    if (each.type === 'text') return each.text
    if (each.type === 'resource_link') return ` ${placeOf(each.uri)} `
    return each.type === 'resource' ? ` ${placeOf(each.resource.uri)} ` : ''
  })
  const contents = blocks
    .filter((each) => each.type === 'resource')
    .map(({ resource: { uri, text = '' } }) => `<context ref=${JSON.stringify(placeOf(uri))}>\n${text}\n</context>`)
  const images = blocks
    .filter((each) => each.type === 'image')
    .map(({ mimeType: mediaType, data }) => ({ mediaType, data }))
  return { type: 'prompt', prompt: [said.join('').trim(), ...contents].join('\n\n'), images }
}

/** The path of a file, and any other address as it is. */
function placeOf(uri: string): string {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : uri
  } catch {
    return uri
  }
}
