import * as z from 'zod'

/** The name of the tool through which the model calls deferred tools: those that requests don't contain. */
export const executeToolName = 'execute_tool'

/** The input of `execute_tool`. */
export const ExecuteInput = z.object({
  name: z.string().min(1).describe("The tool's name, as returned by tool_search."),
  input: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("The tool's input, according to its schema. Default: {}."),
})
