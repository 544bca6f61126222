import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/**
 * A plugin that replaces every non-ASCII character in the sources with `\uXXXX`, so that the built programs contain only ASCII. The programs are read
 * as Latin-1: compared with UTF-8, this saves 2 ms at each start, and needs half the memory of a text with two-byte characters. esbuild itself
 * escapes such characters only in ordinary strings, not in regular expressions and raw templates. In a raw template, the escape means the character
 * only if the template is the source of a regular expression, so raw templates must not be used for anything else.
 */
export const asciiOnly: Plugin = {
  name: 'ascii-only',
  setup(setup) {
    setup.onLoad({ filter: /\.[cm]?[jt]s$/, namespace: 'file' }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      if (isAscii(text)) return undefined
      if (/\\[^\0-\x7f]/.test(text))
        throw new Error(`${path}: a non-ASCII character after a backslash can't be replaced`)
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
