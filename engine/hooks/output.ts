import * as z from 'zod'

const decision = z.enum(['allow', 'deny', 'ask', 'defer'])

const specific = z.looseObject({
  hookEventName: z.string().optional(),
  permissionDecision: decision.optional(),
  permissionDecisionReason: z.string().optional(),
  updatedInput: z.record(z.string(), z.unknown()).optional(),
  additionalContext: z.string().optional(),
  /** The answer to a `PermissionRequest` event. */
  decision: z
    .looseObject({
      behavior: z.enum(['allow', 'deny']),
      message: z.string().optional(),
      updatedInput: z.record(z.string(), z.unknown()).optional(),
      /** Whether a refusal also ends the run. */
      interrupt: z.boolean().optional(),
    })
    .optional(),
  /** What the model reads instead of the tool's result. */
  updatedToolOutput: z.unknown().optional(),
  /** The older name of `updatedToolOutput`. Hooks for MCP tools use it. */
  updatedMCPToolOutput: z.unknown().optional(),
  /** Gemini's fields, for `BeforeModel` and `AfterModel`. */
  llm_request: z.record(z.string(), z.unknown()).optional(),
  llm_response: z.record(z.string(), z.unknown()).optional(),
  /** Gemini's field for the answer to a `BeforeToolSelection` event. */
  toolConfig: z
    .looseObject({
      mode: z.enum(['AUTO', 'ANY', 'NONE']).optional(),
      allowedFunctionNames: z.array(z.string()).optional(),
    })
    .optional(),
})

/** What a hook may print: JSON as specified by Claude Code and Gemini. Fields that aren't listed are ignored. */
const HookOutput = z.looseObject({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  suppressOutput: z.boolean().optional(),
  systemMessage: z.string().optional(),
  /** The older form of a decision, which Gemini uses too. */
  decision: z.enum(['approve', 'block', 'allow', 'deny', 'ask']).optional(),
  reason: z.string().optional(),
  hookSpecificOutput: specific.optional(),
})

/** A hook's answer. An empty object has no effect. */
export type HookOutput = z.infer<typeof HookOutput>

/**
 * Parses a hook's output. A script may print anything. Output that doesn't begin with `{` is not an answer, and is returned as `text`.
 *
 * @returns the answer, or the text; the problem if the output begins with `{` but isn't a valid answer
 */
export function readHookOutput(
  said: string,
): { readonly output: HookOutput; readonly text: string } | { readonly problem: string } {
  const text = said.trim()
  if (!text.startsWith('{')) return { output: {}, text }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return { problem: `its answer is not JSON: ${(error as Error).message}` }
  }
  const result = HookOutput.safeParse(json)
  if (result.success) return { output: result.data, text: '' }
  return { problem: `its answer does not match the schema: ${z.prettifyError(result.error).replaceAll('\n', ' ')}` }
}
