import type { Architecture, Instruction } from '../machine-code/machine-instructions.ts'
import { makeProgram, words, type Memory } from '../machine-code/make-program.ts'
import { listenerFailed } from './inside.ts'
import { relayAddress } from './relay-program.ts'
import { loopbackAddress, serverMessage } from './server-message.ts'
import {
  AF_INET,
  AF_UNIX,
  PR_SET_NO_NEW_PRIVS,
  SECCOMP_SET_MODE_FILTER,
  SOCK_STREAM,
  SOL_SOCKET,
} from '../machine-code/kernel.ts'

const SOCK_CLOEXEC = 0o200_0000
const SO_REUSEADDR = 2
/** The requested length of the queue for connections. The kernel reduces it to its own limit. */
const backlog = 511

/** The message that the entry program prints if it can't change to the command's directory. */
export const directoryMissing = "portcullis: the command's working directory is not in the container"

/** The exit code if a command can't be run. It is neither 126 nor 127, because sh uses these itself. */
const cannotRun = 125

/**
 * A program that permanently installs `filter` (from `compileFilter`) on itself. It then replaces itself with the program that its first argument
 * names, and passes its arguments on to that program.
 *
 * It is for a container whose seccomp profile must permit unix sockets, because `entryProgram` needs one.
 */
export function filterProgram(architecture: Architecture, filter: Uint8Array): Uint8Array {
  return makeProgram(architecture, (memory) => [
    ...applyFilter(memory, filter),
    ...become(memory, 1),
    { label: 'failed' },
    { call: 'exit', operands: [cannotRun] },
  ])
}

/**
 * A program that opens the listening socket of a command's proxy, changes to the directory in its first argument, and installs `filter` on itself. It
 * then passes the socket to the relay, which listens in the directory where this program starts, and replaces itself with the program that its second
 * argument names. If it fails, it prints `directoryMissing` or `listenerFailed` and exits with code 125. After the socket has been passed on, it can
 * fail only if the command's program can't be started.
 */
export function entryProgram(
  architecture: Architecture,
  { port, filter }: { readonly port: number; readonly filter: Uint8Array },
): Uint8Array {
  return makeProgram(architecture, (memory) => {
    const stack = memory.variable()
    const directory = memory.variable()
    const channel = memory.variable()
    const { header, descriptor } = serverMessage(memory)
    const relay = relayAddress(memory)
    const address = loopbackAddress(memory, port)
    const yes = memory.bytes(words(1))
    const byte = memory.space(1)
    return [
      { takeStack: stack },
      { load: directory, from: stack, offset: 16 },
      // Both sockets are closed when the command starts, because the command must not inherit them.
      { call: 'socket', operands: [AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0], result: channel, failed: 'failed' },
      { call: 'socket', operands: [AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0], result: descriptor, failed: 'failed' },
      { call: 'connect', operands: [channel, relay.address, relay.size], failed: 'failed' },
      // Closed connections of the previous command may still occupy the port for a while (TIME_WAIT).
      { call: 'setsockopt', operands: [descriptor, SOL_SOCKET, SO_REUSEADDR, yes, 4], failed: 'failed' },
      { call: 'bind', operands: [descriptor, address, 16], failed: 'failed' },
      { call: 'listen', operands: [descriptor, backlog], failed: 'failed' },
      { call: 'chdir', operands: [directory], failed: 'noDirectory' },
      ...applyFilter(memory, filter),
      { call: 'sendmsg', operands: [channel, header, 0], failed: 'failed' },
      // The relay ends after it has passed the socket on. Waiting for that makes sure that the engine has the socket before the command starts.
      { call: 'read', operands: [channel, byte, 1] },
      ...become(memory, 2),
      { label: 'noDirectory' },
      ...complain(memory, directoryMissing),
      { label: 'failed' },
      ...complain(memory, listenerFailed),
    ]
  })
}

function complain(memory: Memory, text: string): readonly Instruction[] {
  const line = `${text}\n`
  return [
    { call: 'write', operands: [2, memory.bytes(line), line.length] },
    { call: 'exit', operands: [cannotRun] },
  ]
}

function applyFilter(memory: Memory, filter: Uint8Array): readonly Instruction[] {
  // A struct sock_fprog: the number of instructions (each is 8 bytes long) and their address.
  const program = memory.bytes(words(filter.length / 8, memory.bytes(filter)))
  return [
    { call: 'prctl', operands: [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0], failed: 'failed' },
    { call: 'seccomp', operands: [SECCOMP_SET_MODE_FILTER, 0, program], failed: 'failed' },
  ]
}

/**
 * Returns instructions that replace this program with the program that argument `number` names. The new program gets that argument, all arguments
 * after it, and the whole environment.
 */
export function become(memory: Memory, number: number): readonly Instruction[] {
  const stack = memory.variable()
  const path = memory.variable()
  const ownArguments = memory.variable()
  const environment = memory.variable()
  const argumentCount = memory.variable()
  return [
    // The stack contains, in this order, the number of arguments, the arguments, a zero, and the environment.
    { takeStack: stack },
    { load: argumentCount, from: stack, offset: 0 },
    { load: path, from: stack, offset: 8 + 8 * number },
    { set: ownArguments, to: stack },
    { add: 8 + 8 * number, to: ownArguments },
    { set: environment, to: stack },
    { add: 16, to: environment },
    ...Array.from({ length: 8 }, (): Instruction => ({ add: argumentCount, to: environment })),
    { call: 'execve', operands: [path, ownArguments, environment] },
    { goto: 'failed' },
  ]
}
