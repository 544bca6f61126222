import type { Variable } from '../machine-code/machine-instructions.ts'
import { words, type Memory } from '../machine-code/make-program.ts'
import { AF_INET, SOL_SOCKET } from '../machine-code/kernel.ts'

const SCM_RIGHTS = 1

/**
 * The message that Node itself sends for `process.send(message, server)`. A `ChildProcess` that has an `ipc` channel emits the event `message` with
 * that server.
 */
const text = `${JSON.stringify({ cmd: 'NODE_HANDLE', type: 'net.Server', msg: { listening: true } })}\n`

/**
 * Lays out the message that passes a listening socket on. It can be sent by sendmsg(2) once `descriptor` holds the socket, or received by recvmsg(2) and then
 * sent on unchanged. `header` is the address of its `struct msghdr`.
 */
export function serverMessage(memory: Memory): { readonly header: number; readonly descriptor: Variable } {
  // A struct cmsghdr with one descriptor, a struct iovec and a struct msghdr
  const control = memory.bytes(words(20, SOL_SOCKET + SCM_RIGHTS * 2 ** 32))
  const descriptor = memory.variable()
  const iovec = memory.bytes(words(memory.bytes(text), text.length))
  return { header: memory.bytes(words(0, 0, iovec, 1, control, 24, 0)), descriptor }
}

/** Lays out the `struct sockaddr_in` (16 bytes) for a port on 127.0.0.1. Returns its address in memory. */
export function loopbackAddress(memory: Memory, port: number): number {
  const zeros = Array.from({ length: 8 }, () => 0)
  return memory.bytes(Buffer.from([AF_INET, 0, port >> 8, port & 0xff, 127, 0, 0, 1, ...zeros]))
}
