import type { Architecture } from '../machine-code/instructions.ts'
import { makeProgram, words } from '../machine-code/program.ts'

const AF_INET = 2
const SOCK_STREAM = 1
const SOL_SOCKET = 1
const SCM_RIGHTS = 1
/** What the kernel lets wait; it lowers it to its own limit. */
const backlog = 511

const message = `${JSON.stringify({ cmd: 'NODE_HANDLE', type: 'net.Server', msg: { listening: true } })}\n`

/**
 * A program that opens the listening socket that commands find as their proxy, hands it to the engine, and ends: only a process
 * inside a network namespace can make a socket there.
 *
 * The message is the one with which Node's own `process.send(message, server)` hands over a server, so that a `ChildProcess` with
 * an `ipc` channel emits it as `message`. The program exits with 0, or with the error number of the call that failed.
 */
export function listenerProgram(
  architecture: Architecture,
  { port, channel }: { readonly port: number; readonly channel: number },
): Uint8Array {
  return makeProgram(architecture, (memory) => {
    // struct sockaddr_in, struct cmsghdr with one descriptor, struct iovec, struct msghdr
    const zeros = Array.from({ length: 8 }, () => 0)
    const address = memory.bytes(Buffer.from([AF_INET, 0, port >> 8, port & 0xff, 127, 0, 0, 1, ...zeros]))
    const control = memory.bytes(words(20, SOL_SOCKET + SCM_RIGHTS * 2 ** 32))
    const descriptor = memory.variable()
    const iovec = memory.bytes(words(memory.bytes(message), message.length))
    const header = memory.bytes(words(0, 0, iovec, 1, control, 24, 0))
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
