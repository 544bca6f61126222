import type { Usage } from '../core/model.ts'
import type { ChatBody } from './chat-request.ts'

/** The window that Ollama gives a model where nobody asked for another, and from which on its cut prompts are counted. */
const usualWindow = 4096
/** No text has so many characters for a token, on the whole. */
const mostCharacters = 8

/**
 * Notices a server that reads only a part of what it is sent: Ollama cuts a prompt to its window without a word
 * (https://github.com/ollama/ollama/blob/main/docs/faq.md#how-can-i-specify-the-context-window-size). Its count then stays in the window,
 * however long the prompt is.
 *
 * @returns what the user should know, once
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
