import type { Plugin } from 'esbuild'

/**
 * A plugin that replaces the classes of the API's resources in OpenAI's client with empty ones. The client creates an object of each of these hundred
 * classes, but this package uses none of them, because it sends all requests with the client's own method `post`. The plugin also replaces the class
 * for a kind of authentication that this package doesn't offer, because the module with that class loads Node's `fetch`.
 *
 * Saves 8 ms of processor time and 1.5 MiB at the start of an `agent exec` that sends requests to OpenAI (209 instead of 218 ms, medians of 35
 * alternating runs), and nothing in a run that replays a recording.
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
