/** A system call as a filter sees it (struct seccomp_data). Arguments are unsigned 64-bit registers. */
export type Call = { readonly number: number; readonly architecture: number; readonly arguments?: readonly bigint[] }

export type Verdict = 'allow' | 'kill' | { readonly errno: number }

/** Runs a classic BPF program (linux/filter.h) on one call, as the kernel would. Throws for instructions and results that our filters don't use. */
export function interpret(program: Uint8Array, call: Call): Verdict {
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, call.number, true)
  data.setUint32(4, call.architecture, true)
  for (const [index, value] of (call.arguments ?? []).entries()) data.setBigUint64(16 + 8 * index, value, true)
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength)
  let accumulator = 0
  for (let at = 0; ; at += 1) {
    const code = view.getUint16(8 * at, true)
    const onTrue = view.getUint8(8 * at + 2)
    const onFalse = view.getUint8(8 * at + 3)
    const k = view.getUint32(8 * at + 4, true)
    switch (code) {
      case 0x20:
        accumulator = data.getUint32(k, true)
        break
      case 0x54:
        accumulator = (accumulator & k) >>> 0
        break
      case 0x05:
        at += k
        break
      case 0x15:
        at += accumulator === k ? onTrue : onFalse
        break
      case 0x35:
        at += accumulator >= k ? onTrue : onFalse
        break
      case 0x45:
        at += (accumulator & k) !== 0 ? onTrue : onFalse
        break
      case 0x06:
        return verdict(k)
      default:
        throw new Error(`instruction ${at} has the unknown code ${code}`)
    }
  }
}

function verdict(value: number): Verdict {
  switch (value >>> 16) {
    case 0x7fff:
      return 'allow'
    case 0x8000:
      return 'kill'
    case 0x0005:
      return { errno: value & 0xffff }
    default:
      throw new Error(`unknown verdict ${value}`)
  }
}
