import type { Model } from '../model.ts'
import type { OpenAIConnection } from './openai-sdk.ts'
import type { Limits } from './options.ts'
import { readStream } from './read-stream.ts'
import { readResponses } from './responses-events.ts'
import { buildResponsesBody } from './responses-request.ts'
import { respondWithRetries } from './retry.ts'
import type { Provider } from './retry.ts'

/** A model behind OpenAI's Responses API. */
export function responsesModel(
  name: string,
  settings: {
    readonly provider: Provider
    /** The model's name as the provider knows it. */
    readonly model: string
    readonly connection: OpenAIConnection
    readonly limits: Limits
  },
): Model {
  const { provider, model, connection, limits } = settings
  return {
    name,
    respond: (request, signal) => {
      const body = buildResponsesBody(model, request)
      const ask = () => readResponses(readStream((own) => connection.responses(body, own), limits, signal))
      return respondWithRetries(provider, ask, limits, signal)
    },
  }
}
