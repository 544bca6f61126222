import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startForm } from '../../sandbox/bubblewrap/start-form.ts'
import { arm64 } from '../../sandbox/machine-code/arm64.ts'
import type { Architecture } from '../../sandbox/machine-code/machine-instructions.ts'
import { x64 } from '../../sandbox/machine-code/x64.ts'
import { checkProgram } from '../../sandbox/mounting/check-program.ts'
import { entryProgram, filterProgram } from '../../sandbox/network/entry-program.ts'
import { listenerProgram } from '../../sandbox/network/listener-program.ts'
import { relayProgram } from '../../sandbox/network/relay-program.ts'
import { terminalProgram } from '../../sandbox/terminal/terminal-program.ts'
import { testUnlessOnCi } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

/** The disassembler for each architecture. It comes from binutils, so it is independent of our assembler. */
const readers = {
  x64: { program: 'objdump', options: ['-m', 'i386:x86-64', '-M', 'intel'], calls: x64.calls },
  arm64: { program: 'aarch64-linux-gnu-objdump', options: ['-m', 'aarch64'], calls: arm64.calls },
} as const

/** For each of our programs, a function that creates it. The functions use example data, because data does not appear in the listings. */
const programs: Readonly<Record<string, (architecture: Architecture) => Uint8Array>> = {
  check: (architecture) => checkProgram(architecture, [], ''),
  entry: (architecture) => entryProgram(architecture, { port: 3128, filter: Buffer.alloc(8) }),
  filter: (architecture) => filterProgram(architecture, Buffer.alloc(8)),
  listener: (architecture) => listenerProgram(architecture, { port: 3128, channel: 6 }),
  relay: (architecture) => relayProgram(architecture, 3),
  start: (architecture) =>
    startForm(architecture, { report: 6, kept: [], filter: { sockets: 'loopback', unixSockets: false } }).fixed,
  terminal: (architecture) => terminalProgram(architecture, 3),
}

/** The instructions of a program, one per line, with the names of the system calls. The code is in the second segment (elf(5)). */
function listing(architecture: Architecture, program: Uint8Array): string {
  const { program: reader, options, calls } = readers[architecture]
  const view = new DataView(program.buffer, program.byteOffset)
  const [offset, address, size] = [8, 16, 32].map((at) => Number(view.getBigUint64(64 + 56 + at, true))) as [
    number,
    number,
    number,
  ]
  const file = join(tempDir(), 'code')
  writeFileSync(file, program.subarray(offset, offset + size))
  const args = ['-D', '-b', 'binary', ...options, '--no-show-raw-insn', `--adjust-vma=${address}`, file]
  const { stdout } = spawnSync(reader, args, { encoding: 'utf8' })
  let number = 0
  const lines = stdout.split('\n').flatMap((line) => {
    const [, at = '', instruction = ''] = /^\s*([0-9a-f]+):\s+(.*)$/.exec(line) ?? []
    if (at === '') return []
    const text = instruction
      .trim()
      .replaceAll(/\s+/g, ' ')
      .replace(/ (?:<|\/\/).*$/, '')
    const loaded = /^mov(?:abs)? (?:rax,|x8, #)(0x[0-9a-f]+|\d+)$/.exec(text)?.[1]
    if (loaded !== undefined) number = Number(loaded)
    const isCall = /^(?:syscall|svc #0x0)$/.test(text)
    const name = Object.entries(calls).find(([, known]) => known === number)?.[0]
    return [`${at}  ${text}${isCall ? `  ; ${name ?? 'unknown'}` : ''}`]
  })
  // AArch64 needs four instructions to load a 64-bit number. In the listing, they become one instruction with the whole number.
  const text = `${lines.join('\n')}\n`
  return text.replaceAll(
    /^(\w+  mov) (x\d+), #0x(\w+)\n\w+  movk \2, #0x(\w+), lsl #16\n\w+  movk \2, #0x(\w+), lsl #32\n\w+  movk \2, #0x(\w+), lsl #48$/gm,
    (_, start: string, register: string, ...quarters: string[]) => {
      const [low = '', second = '', third = '', high = ''] = quarters.slice(0, 4).map((part) => part.padStart(4, '0'))
      return `${start} ${register}, 0x${BigInt(`0x${high}${third}${second}${low}`).toString(16)}`
    },
  )
}

describe.each(['x64', 'arm64'] as const)('the listing for %s', (architecture) => {
  const { program: reader } = readers[architecture]
  const isThere = spawnSync(reader, ['--version']).status === 0
  const test = testUnlessOnCi(isThere ? undefined : `the program ${reader} of binutils is not installed`)

  test.each(Object.entries(programs))('of the program %s is what binutils reads in its code', async (name, make) => {
    const text = listing(architecture, make(architecture))
    expect(text).not.toMatch(/\(bad\)|undefined|; unknown/)
    await expect(text).toMatchFileSnapshot(`../../sandbox/machine-code/listings/${name}.${architecture}.txt`)
  })
})

describe('the calls of each program', () => {
  const test = testUnlessOnCi(undefined)
  test.each(Object.keys(programs))('is the same on both processors: %s', (name) => {
    const called = (architecture: Architecture): readonly string[] => {
      const file = new URL(`../../sandbox/machine-code/listings/${name}.${architecture}.txt`, import.meta.url)
      return [...readFileSync(file, 'utf8').matchAll(/; (\w+)$/gm)].map(([, call]) => call ?? '')
    }
    expect(called('x64').length).toBeGreaterThan(2)
    expect(called('arm64')).toEqual(called('x64'))
  })
})
