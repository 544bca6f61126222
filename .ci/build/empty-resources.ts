import type { Plugin } from 'esbuild'

/**
 * OpenAI's client creates an object for each of the hundred resources of the API. This package uses none of these objects, because it sends all requests with
 * the client's own method `post`. This plugin replaces the classes of these objects with empty ones. It does the same for a kind of authentication that this
 * package doesn't offer, because its module loads Node's `fetch`.
 *
 * Saves 8 ms of processor time and 1.5 MiB at the start of an `agent exec` that sends requests to OpenAI (209 instead of 218 ms, medians of 35 alternating
 * runs), and nothing in a run that replays a recording.
 */
export const emptyResources: Plugin = {
  name: 'empty-resources',
  setup(setup) {
    setup.onResolve({ filter: /\.mjs$/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData !== undefined || !/\/node_modules\/openai\/.*\.mjs$/.test(importer)) return undefined
      const { path: found } = await setup.resolve(path, { importer, resolveDir, kind, pluginData: { seen: true } })
      return { path: found, sideEffects: false }
    })
    setup.onLoad(
      { filter: /\/node_modules\/openai\/(?:resources\/.*|auth\/workload-identity-auth)\.mjs$/ },
      async ({ path }) => {
        const names = Object.keys((await import(path)) as object)
        return { contents: names.map((name) => `export class ${name} {}\n`).join('') }
      },
    )
  },
}
