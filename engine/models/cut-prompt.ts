import type { Usage } from '../core/model.ts'
import type { ChatBody } from './chat-request.ts'

/** The smallest context window that Ollama gives a model by default, in tokens. Only prompts that are longer than this are checked. */
const usualWindow = 4096
/** An upper bound on the average number of characters per token. */
const mostCharacters = 8

/**
 * Detects a server that reads only part of a prompt: Ollama silently truncates it to its context window
 * (https://github.com/ollama/ollama/blob/main/docs/faq.md#how-can-i-specify-the-context-window-size). In that case, the token count that the server reports
 * stays within the window, however long the prompt is.
 *
 * @returns a function that returns a notice for the user the first time that it detects truncation, and undefined otherwise
 */
export function cutPrompt(): (body: ChatBody, usage: Usage) => string | undefined {
  let isTold = false
  return (body, { inputTokens }) => {
    if (isTold || inputTokens < usualWindow / 2 || inputTokens > usualWindow) return undefined
    const least = Math.floor(JSON.stringify(body).length / mostCharacters)
    if (least <= usualWindow) return undefined
    isTold = true
    return (
      `The server counted ${inputTokens} tokens although at least ${least} were sent: it truncates prompts to its context window, and the model ` +
      'does not see all of its instructions. Configure a larger window: for Ollama, set num_ctx, or OLLAMA_CONTEXT_LENGTH when starting it.'
    )
  }
}
