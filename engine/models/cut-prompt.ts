import type { Usage } from '../core/model.ts'
import type { ChatBody } from './chat-request.ts'

/** The smallest window that Ollama gives a model by default; cut prompts are detected from this size on. */
const usualWindow = 4096
/** No text has so many characters for a token, on the whole. */
const mostCharacters = 8

/**
 * Detects a server that reads only part of a prompt: Ollama silently cuts it to its window
 * (https://github.com/ollama/ollama/blob/main/docs/faq.md#how-can-i-specify-the-context-window-size). Its token count then stays within the
 * window, however long the prompt is.
 *
 * @returns a notice for the user, once
 */
export function cutPrompt(): (body: ChatBody, usage: Usage) => string | undefined {
  let isTold = false
  return (body, { inputTokens }) => {
    if (isTold || inputTokens < usualWindow / 2 || inputTokens > usualWindow) return undefined
    const least = Math.floor(JSON.stringify(body).length / mostCharacters)
    if (least <= usualWindow) return undefined
    isTold = true
    return (
      `The server counted ${inputTokens} tokens where at least ${least} were sent: it cuts what it is sent to its window, and the model ` +
      'does not see all of its instructions. Give it a larger one; Ollama takes it as num_ctx, or OLLAMA_CONTEXT_LENGTH where it is started.'
    )
  }
}
