import * as z from 'zod'
import { OpenQuestions } from '../open-questions.ts'
import { printJson } from '../print.ts'

/** The error codes of JSON-RPC and of the protocol. */
const errorCodes = {
  ...{ parse: -32700, invalidRequest: -32600, methodNotFound: -32601, invalidParams: -32602, internal: -32603 },
  ...{ authRequired: -32000, notFound: -32002 },
}

/** An error that answers a request. */
export class RpcError extends Error {
  readonly code: number
  readonly data: object | undefined

  constructor(kind: keyof typeof errorCodes, message: string, options: ErrorOptions & { readonly data?: object } = {}) {
    super(message, options)
    this.code = errorCodes[kind]
    this.data = options.data
  }
}

const requestId = z.union([z.string(), z.number(), z.null()])
const message = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: requestId.optional(),
  method: z.string().optional(),
  error: z.looseObject({ message: z.string() }).optional(),
})

type Serve = (method: string, params: unknown, id: z.infer<typeof requestId> | undefined) => Promise<object>

/** The client at the other end of the standard streams. Either side may ask the other: a request has an id, and its answer names it. */
export class Peer {
  readonly #questions = new OpenQuestions()
  readonly #serve: Serve

  /** @param serve answers a request, or acts on a notification. It throws `RpcError` */
  constructor(serve: Serve) {
    this.#serve = serve
  }

  notify(method: string, params: object): void {
    printJson({ jsonrpc: '2.0', method, params })
  }

  /** Asks the client, as `OpenQuestions` does. */
  ask(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const put = (id: string): void => printJson({ jsonrpc: '2.0', id, method, params })
    const withdraw = (requestId: string): void => this.notify('$/cancel_request', { requestId })
    return this.#questions.ask({ put, withdraw }, signal)
  }

  /** Takes a line of the client. Resolves when what it asks for is answered. */
  async receive(line: string): Promise<void> {
    if (line.trim() === '') return
    let id: z.infer<typeof requestId> | undefined = null
    try {
      const value: unknown = JSON.parse(line)
      id = z.looseObject({ id: requestId }).safeParse(value).data?.id ?? null
      const { data } = message.safeParse(value)
      if (data === undefined) throw new RpcError('invalidRequest', 'Expected a message of JSON-RPC 2.0.')
      if (data.method === undefined) {
        return this.#questions.answered(data.id, { result: data['result'], error: data.error?.message })
      }
      id = data.id
      const result = await this.#serve(data.method, data['params'], id)
      if (id !== undefined) printJson({ jsonrpc: '2.0', id, result })
    } catch (cause) {
      const error = cause instanceof SyntaxError ? new RpcError('parse', `Not JSON: ${cause.message}`) : cause
      if (!(error instanceof RpcError)) throw error
      const { code, message, data } = error
      if (id !== undefined) printJson({ jsonrpc: '2.0', id, error: { code, message, data } })
    }
  }

  /** The client will answer no more: open requests to it and later ones fail. */
  leave(): void {
    this.#questions.leave('the client is gone')
  }
}
