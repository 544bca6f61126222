import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { McpTransport } from './server.ts'

/** The transport for a server in the program that drives the run. */
export class ClientTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  readonly #exchange: Extract<McpTransport, { type: 'client' }>['exchange']
  readonly #ending = new AbortController()

  constructor({ exchange }: Extract<McpTransport, { type: 'client' }>) {
    this.#exchange = exchange
  }

  start(): Promise<void> {
    return Promise.resolve()
  }

  /** Doesn't wait for the answer, because the protocol lets other messages pass meanwhile. */
  send(message: JSONRPCMessage): Promise<void> {
    void this.#ask(message)
    return Promise.resolve()
  }

  close(): Promise<void> {
    this.#ending.abort()
    this.onclose?.()
    return Promise.resolve()
  }

  async #ask(message: JSONRPCMessage): Promise<void> {
    const id = 'id' in message && 'method' in message ? message.id : undefined
    try {
      const answer = await this.#exchange(message, this.#ending.signal)
      if (id !== undefined) this.onmessage?.(JSONRPCMessageSchema.parse(answer))
    } catch (error) {
      if (this.#ending.signal.aborted || id === undefined) return
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32000, message: (error as Error).message } })
    }
  }
}
