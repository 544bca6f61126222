import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { Command, Sandbox, SandboxProcess } from '../../sandbox/index.ts'
import { sanitizeOutput } from '../core/text/sanitize-output.ts'

/** How many bytes from the end of a server's standard error are kept for messages. */
const complaintLimit = 2000

/** The stdio transport for a server in the sandbox: one JSON message per line in both directions. */
export class SandboxTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  readonly #sandbox: Sandbox
  readonly #command: Command
  readonly #incoming = new ReadBuffer()
  #process: SandboxProcess | undefined
  #complaint = Buffer.alloc(0)
  #ending: string | undefined

  constructor(sandbox: Sandbox, command: Omit<Command, 'stdin' | 'timeoutMs' | 'outputBytes'>) {
    this.#sandbox = sandbox
    // A server has no limits of one command: it answers for as long as the run, and is stopped when the run ends.
    this.#command = { ...command, stdin: 'pipe', timeoutMs: Infinity, outputBytes: Infinity }
  }

  start(): Promise<void> {
    const child = this.#sandbox.spawn(this.#command)
    this.#process = child
    child.stdin?.on('error', (error) => this.onerror?.(error))
    child.stderr.on('data', (bytes: Buffer) => {
      this.#complaint = Buffer.concat([this.#complaint, bytes]).subarray(-complaintLimit)
    })
    child.stdout.on('data', (bytes: Buffer) => this.#receive(bytes))
    void child.result.then((result) => {
      this.#ending ??=
        result.status === 'exited'
          ? `exited with code ${result.code}`
          : result.status === 'signaled'
            ? `was killed by ${result.signal}`
            : 'was stopped'
      this.onclose?.()
    })
    return Promise.resolve()
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin
    if (stdin === undefined || !stdin.writable)
      return Promise.reject(new Error(`the server ${this.ending ?? 'is not running'}`))
    return new Promise((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()))
    })
  }

  async close(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined) return
    // As the protocol specifies, standard input is closed first, and the server is killed if it doesn't exit.
    child.stdin?.end()
    const patience = setTimeout(() => child.kill(), 500)
    await child.result
    clearTimeout(patience)
  }

  /** How the server exited, and the last part of its standard error; undefined while it runs. */
  get ending(): string | undefined {
    if (this.#ending === undefined) return undefined
    const words = sanitizeOutput(this.#complaint).trim()
    return words === '' ? this.#ending : `${this.#ending}: ${words}`
  }

  #receive(bytes: Buffer): void {
    try {
      this.#incoming.append(bytes)
    } catch (error) {
      // A line is too long, so nothing after it could be parsed either. The server is stopped.
      this.#ending ??= `sent a line that is too long (${(error as Error).message})`
      this.#process?.kill()
      return
    }
    for (;;) {
      try {
        const message = this.#incoming.readMessage()
        if (message === null) return
        this.onmessage?.(message)
      } catch (error) {
        this.onerror?.(error as Error)
      }
    }
  }
}
