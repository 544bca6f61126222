import type { Architecture } from '../machine-code/machine-instructions.ts'
import { makeProgram } from '../machine-code/make-program.ts'
import { loopbackAddress, serverMessage } from './server-message.ts'
import { AF_INET, SOCK_STREAM } from '../machine-code/kernel.ts'

/** The requested length of the queue for connections. The kernel reduces it to its own limit. */
const backlog = 511

/**
 * A program that opens the listening socket of the commands' proxy, passes it to the engine, and ends. It is needed because only a process inside a
 * network namespace can create a socket there. Its exit code is 0, or the error number of the call that failed.
 */
export function listenerProgram(
  architecture: Architecture,
  { port, channel }: { readonly port: number; readonly channel: number },
): Uint8Array {
  return makeProgram(architecture, (memory) => {
    const address = loopbackAddress(memory, port)
    const { header, descriptor } = serverMessage(memory)
    const error = memory.variable()
    const code = memory.variable()
    return [
      { call: 'socket', operands: [AF_INET, SOCK_STREAM, 0], result: descriptor },
      { when: descriptor, negative: true, goto: 'noSocket' },
      { call: 'bind', operands: [descriptor, address, 16], result: error, failed: 'failed' },
      { call: 'listen', operands: [descriptor, backlog], result: error, failed: 'failed' },
      { call: 'sendmsg', operands: [channel, header, 0], result: error, failed: 'failed' },
      { call: 'exit', operands: [0] },
      { label: 'noSocket' },
      { set: error, to: descriptor },
      { label: 'failed' },
      { subtract: error, from: code },
      { call: 'exit', operands: [code] },
    ]
  })
}
