import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/**
 * The programs are read as Latin-1. Compared with UTF-8, this saves 2 ms at each start, and it needs half the memory of a text with two-byte characters.
 * Therefore, the programs may contain only ASCII. esbuild escapes all other characters in strings, but it can't escape them in regular expressions and in raw
 * templates. This plugin replaces them with `\uXXXX` before esbuild reads a file. A raw template must therefore be used only as the source of a regular
 * expression, in which the escape means the character.
 */
export const asciiOnly: Plugin = {
  name: 'ascii-only',
  setup(setup) {
    setup.onLoad({ filter: /\.[cm]?[jt]s$/, namespace: 'file' }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      if (isAscii(text)) return undefined
      if (/\\[^\0-\x7f]/.test(text))
        throw new Error(`${path}: a backslash before a character other than ASCII can't be replaced`)
      return { contents: escaped(text), loader: path.endsWith('ts') ? 'ts' : 'js' }
    })
  },
}

/** Throws an error if a program contains characters other than ASCII, which would be misread as Latin-1. */
export async function assertAscii(file: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  if (!isAscii(text)) throw new Error(`${file} contains characters other than ASCII, but it is read as Latin-1`)
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

function escaped(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
