import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

type Load = { readonly files: readonly (readonly [name: string, text: string])[]; readonly patch: string }

/** Creates a generator that always returns the same sequence of numbers, so that two runs measure the same thing. */
function makeRandom(): (limit: number) => number {
  let state = 0x1d872b41
  return (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % limit
  }
}

const random = makeRandom()
const word = (): string => `v${random(60_000).toString(36)}`
const codeLine = (number: number): string =>
  `${'    '.repeat(random(4))}${word()}(${word()}, ${number}); // ${word()} ${word()}`
const codeLines = (count: number): string[] => Array.from({ length: count }, (_, number) => codeLine(number))
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
const chunk = (lines: readonly string[], at: number, fresh: string): string =>
  `@@\n ${lines[at - 1] ?? ''}\n-${lines[at] ?? ''}\n+${fresh}\n ${lines[at + 1] ?? ''}\n`

const row = '    value = compute("x", 1) - offset;'
const fortyRows = ` ${row}\n`.repeat(40)
const asciiQuotes = (line: string): string => line.replaceAll(/[\u201c\u201d]/g, '"')

/** The benchmark's loads by their letters, each with a title. A load is a tree and a patch for it. */
export const loads: Readonly<Record<string, { readonly title: string; readonly make: () => Load }>> = {
  a: {
    title: 'one chunk in one small file',
    make: () => {
      const lines = codeLines(20)
      return {
        files: [['small.txt', text(lines)]],
        patch: `*** Update File: small.txt\n${chunk(lines, 10, 'changed')}`,
      }
    },
  },
  b: {
    title: '1,000 updates of 1,000 files',
    make: () => {
      const files = Array.from(
        { length: 1000 },
        (_, index) => [`d${index % 20}/file${index}.txt`, codeLines(60)] as const,
      )
      const updates = files.map(
        ([name, lines]) => `*** Update File: ${name}\n${chunk(lines, 10 + random(40), `changed ${name}`)}`,
      )
      return { files: files.map(([name, lines]) => [name, text(lines)] as const), patch: updates.join('') }
    },
  },
  c: {
    title: '2,000 chunks in 200,000 lines (8 MB)',
    make: () => {
      const lines = codeLines(200_000)
      const chunks = Array.from({ length: 2000 }, (_, index) => chunk(lines, index * 100 + 50, `changed ${index}`))
      return { files: [['big.txt', text(lines)]], patch: `*** Update File: big.txt\n${chunks.join('')}` }
    },
  },
  d: {
    title: 'a match in the last pass, 200,000 lines almost alike',
    make: () => {
      const lines = Array.from({ length: 200_000 }, () => row)
      lines[199_990] = '    tail = finish(\u201cx\u201d) \u2013 1;'
      const old = '-    tail = finish("x") - 1;\n+    tail = finished;\n'
      return { files: [['dup.txt', text(lines)]], patch: `*** Update File: dup.txt\n@@\n${fortyRows}${old}` }
    },
  },
  e: {
    title: 'a new file of 10 MB',
    make: () => {
      const lines: string[] = []
      for (let size = 0; size < 10 << 20; size += (lines.at(-1)?.length ?? 0) + 1) lines.push(codeLine(lines.length))
      return { files: [], patch: `*** Add File: new.txt\n${lines.map((line) => `+${line}\n`).join('')}` }
    },
  },
  f: {
    title: '200 chunks that all need the last pass',
    make: () => {
      const lines = codeLines(20_000).map((line) => `${line} \u201cq\u201d`)
      const plain = lines.map(asciiQuotes)
      const chunks = Array.from({ length: 200 }, (_, index) => chunk(plain, index * 100 + 50, `changed ${index}`))
      return { files: [['uni.txt', text(lines)]], patch: `*** Update File: uni.txt\n${chunks.join('')}` }
    },
  },
  g: {
    title: 'one chunk that replaces 5,000 lines of 10 MB',
    make: () => {
      const lines = Array.from(
        { length: 105_000 },
        (_, index) => `${String(index).padStart(8, '0')} ${'abcdefghij'.repeat(9)}`,
      )
      const first = lines.slice(0, 5000)
      const body = first.map((line) => `-${line}\n`).join('') + first.map((line) => `+${line.toUpperCase()}\n`).join('')
      return { files: [['big.txt', text(lines)]], patch: `*** Update File: big.txt\n@@\n${body}` }
    },
  },
  h: {
    title: 'a miss: 500 equal lines of context, 50,000 equal lines',
    make: () => {
      const body = `${` ${row}\n`.repeat(500)}-    not in the file\n+    x\n`
      return { files: [['dup.txt', `${row}\n`.repeat(50_000)]], patch: `*** Update File: dup.txt\n@@\n${body}` }
    },
  },
}

/** Writes a load's tree to `folder/tree` and its patch to `folder/patch`. */
export function writeLoad(folder: string, { files, patch }: Load): void {
  mkdirSync(join(folder, 'tree'), { recursive: true })
  for (const [name, content] of files) {
    const path = join(folder, 'tree', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  writeFileSync(join(folder, 'patch'), `*** Begin Patch\n${patch}*** End Patch\n`)
}
