import * as z from 'zod'

/** The name under which a tool is run that requests don't show. */
export const executeToolName = 'execute_tool'

/** The input of `execute_tool`. */
export const ExecuteInput = z.object({
  name: z.string().min(1).describe('Name of the tool, as tool_search gave it.'),
  input: z.record(z.string(), z.unknown()).optional().describe('What its schema asks for. Default: {}.'),
})
