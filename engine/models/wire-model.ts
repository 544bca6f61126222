import type { Model, ModelRequest } from '../core/model.ts'
import type { Endpoint } from './endpoint.ts'
import { continueAnswer } from './continue-answer.ts'
import { withFittingTools } from './fitting-tools.ts'
import type { GatedRequests } from './gated-requests.ts'
import type { Limits } from './model-options.ts'
import { withOwnIds } from './own-ids.ts'
import { proxyOf } from './proxy-variables.ts'
import { readStream } from './read-stream.ts'
import { RequestRepairs } from './request-repairs.ts'
import { respondWithRetries } from './retry.ts'
import type { Wire } from './wire.ts'

/**
 * Creates a model that uses a provider's wire format. Adds timeouts, and retries requests after failures that may be temporary.
 *
 * @param gate the gate that each request must pass; if undefined, requests don't wait
 */
export function wireModel(
  name: string,
  wire: Wire,
  endpoint: Endpoint,
  limits: Limits,
  gate?: Pick<GatedRequests, 'send'>,
): Model {
  const { enforcesSchema, searchesWeb, mostTools = Infinity } = wire
  const repairs = new RequestRepairs(endpoint)
  const url = URL.parse(endpoint.baseUrl)
  const proxy = url === null ? undefined : proxyOf(endpoint.env, url)
  const way = proxy && `, through the proxy ${proxy.label} (${proxy.variable}) unless NO_PROXY names its host`
  let isTold = false
  return {
    name,
    enforcesSchema,
    searchesWeb,
    async *respond(request, signal) {
      const most = mostTools - (request.webSearch === undefined ? 0 : 1)
      const over = request.tools.slice(most)
      if (over.length > 0 && !isTold) {
        isTold = true
        const names = over.map((tool) => tool.name).join(', ')
        const message = `${endpoint.label} accepts at most ${mostTools} tools, so the model doesn't see ${over.length} of them: ${names}`
        yield { type: 'notice', message }
      }
      const { request: asked, back } = withFittingTools(
        over.length === 0 ? request : { ...request, tools: first(request.tools, most) },
      )
      const answer = continueAnswer(endpoint, asked, (part) => {
        const attempt = (repaired: ModelRequest) => {
          const { send, isEnd, read } = wire.prepare(repaired)
          const ask = () => read(readStream(send, isEnd, limits, signal, way))
          return gate?.send(repaired, ask, signal) ?? ask()
        }
        return respondWithRetries(endpoint, () => repairs.ask(part, attempt), limits, signal)
      })
      yield* withOwnIds(request.history, back(answer))
    },
  }
}

/**
 * Returns the first `count` elements. The same list and count give the same array object each time, because translations are cached by the identity of the
 * list.
 */
function first<T>(all: readonly T[], count: number): readonly T[] {
  const before = firstOf.get(all) as readonly T[] | undefined
  if (before?.length === count) return before
  const some = all.slice(0, count)
  firstOf.set(all, some)
  return some
}

const firstOf = new WeakMap<readonly unknown[], readonly unknown[]>()
