import * as z from 'zod'

/** The event that a content block begins with. */
export const blockStart = z.object({
  index: z.number(),
  content_block: z.looseObject({
    type: z.string(),
    id: z.string().optional(),
    name: z.string().optional(),
    text: z.string().optional(),
    thinking: z.string().optional(),
    signature: z.string().optional(),
    data: z.string().optional(),
  }),
})
/** A content block as far as it has come. `json` gathers a tool's input. */
export type Block = z.infer<typeof blockStart>['content_block'] & { json: string }
