import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Plugin } from 'esbuild'

/**
 * A plugin that makes the vendors' SDKs use this package's class for headers. The global one is part of Node's `fetch`, and each run would load that, and
 * with it the modules for HTTP/2, for compression and for web streams.
 *
 * Saves 17 ms of processor time and 6 MiB in every run with a model server (135 instead of 152 ms, 79 instead of 85 MiB, medians of 20 alternating runs).
 */
export const plainHeaders: Plugin = {
  name: 'plain-headers',
  setup(setup) {
    setup.onLoad({ filter: /\/node_modules\/(?:openai|@anthropic-ai\/sdk)\/.*\.mjs$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      if (!/\b(?:Headers|ReadableStream)\b/.test(text)) return undefined
      const ours = JSON.stringify(resolve('engine/models/plain-headers.ts'))
      // No line is added, so that the line numbers in source maps stay correct. `ReadableStream` isn't needed, because no request has a stream as its body.
      const contents = text.replaceAll('globalThis.ReadableStream', 'undefined')
      return { contents: `import { PlainHeaders as Headers } from ${ours}; ${contents}` }
    })
  },
}
