import type { Architecture } from '../machine-code/machine-instructions.ts'
import { makeProgram, type Memory } from '../machine-code/make-program.ts'
import { serverMessage } from './server-message.ts'
import { AF_UNIX, SOCK_STREAM } from '../machine-code/kernel.ts'

const PR_SET_PDEATHSIG = 1
const SIGKILL = 9

/** The name of the socket, relative to the working directory. A full path could be too long for a socket address. */
const socketName = 'proxy'

/** Lays out the `struct sockaddr_un` of the relay's socket. Returns its address in memory and its size. */
export function relayAddress(memory: Memory): { readonly address: number; readonly size: number } {
  return {
    address: memory.bytes(Buffer.from([AF_UNIX, 0, ...Buffer.from(`${socketName}\0`)])),
    size: 3 + socketName.length,
  }
}

/**
 * A program that creates a unix socket in its working directory, receives a listening socket from the first process that connects to it, passes that
 * socket on through `channel`, and ends. It is needed because Node accepts sockets only from its own children. When it is ready to accept connections,
 * it writes one byte to its standard output. It does not outlive its parent. Its exit code is 0, or the error number of the call that failed.
 */
export function relayProgram(architecture: Architecture, channel: number): Uint8Array {
  return makeProgram(architecture, (memory) => {
    const { address, size } = relayAddress(memory)
    const { header } = serverMessage(memory)
    const byte = memory.bytes('\n')
    const server = memory.variable()
    const connection = memory.variable()
    const result = memory.variable()
    const code = memory.variable()
    return [
      { call: 'prctl', operands: [PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0], result, failed: 'failed' },
      { call: 'socket', operands: [AF_UNIX, SOCK_STREAM, 0], result: server },
      { set: result, to: server },
      { when: result, negative: true, goto: 'failed' },
      { call: 'bind', operands: [server, address, size], result, failed: 'failed' },
      { call: 'listen', operands: [server, 1], result, failed: 'failed' },
      // If the parent ended before the first system call above, this write fails, which ends the program.
      { call: 'write', operands: [1, byte, 1], result, failed: 'failed' },
      { call: 'accept4', operands: [server, 0, 0, 0], result: connection },
      { set: result, to: connection },
      { when: result, negative: true, goto: 'failed' },
      { call: 'recvmsg', operands: [connection, header, 0], result, failed: 'failed' },
      { call: 'sendmsg', operands: [channel, header, 0], result, failed: 'failed' },
      { call: 'exit', operands: [0] },
      { label: 'failed' },
      { subtract: result, from: code },
      { call: 'exit', operands: [code] },
    ]
  })
}
