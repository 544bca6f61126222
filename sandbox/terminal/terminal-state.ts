import type { Memory } from '../machine-code/make-program.ts'

/** The bit of poll(2) for data that can be read. It is the same on both processor architectures (asm-generic). */
export const POLLIN = 1n

/** The number of bytes that a pipe always accepts in one call if it is ready for writing (PIPE_BUF). */
export const bufferBytes = 4096

/** The variables and buffers of the terminal program. */
export type State = ReturnType<typeof layOut>

/**
 * Lays out the terminal program's variables and buffers in its memory.
 *
 * @param control the descriptor from which sizes are read
 */
export function layOut(memory: Memory, control: number) {
  return {
    stack: memory.variable(),
    master: memory.variable(),
    slave: memory.variable(),
    signals: memory.variable(),
    child: memory.variable(),
    size: memory.variable(),
    count: memory.variable(),
    /** Typed input that the terminal has not accepted yet (`typed`), and output that has not been written yet (`shown`). */
    typed: { buffer: memory.space(bufferBytes), from: memory.variable(), left: memory.variable() },
    shown: { buffer: memory.space(bufferBytes), from: memory.variable(), left: memory.variable() },
    /** The ppoll(2) entries of two descriptors whose input may end. When the input of one has ended, its entry is set to `unused`. */
    keyboard: memory.variable(waitingFor(0n, POLLIN)),
    resizing: memory.variable(waitingFor(BigInt(control), POLLIN)),
    signal: { head: memory.variable(), rest: memory.space(120) },
    status: memory.variable(),
    group: memory.variable(),
    /** The array for ppoll(2). */
    waiting: {
      keyboard: memory.variable(),
      resizing: memory.variable(),
      master: memory.variable(),
      screen: memory.variable(),
      signals: memory.variable(),
    },
  }
}

/** A `struct pollfd` as one number: the descriptor, the events to wait for, and the events that occurred. */
export function waitingFor(descriptor: bigint, events: bigint): bigint {
  return descriptor + (events << 32n)
}
