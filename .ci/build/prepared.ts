import type { Plugin } from 'esbuild'

/**
 * Computes the results of some modules during the build, and bundles the results as data. These modules depend only on their own sources.
 *
 * Saves 17 to 20 ms of processor time and 5 MiB at the start of `agent exec` (198 instead of 215 ms, medians of 25 alternating runs), and nothing in
 * `apply-patch`.
 */
export const prepared: Plugin = {
  name: 'prepared',
  setup(setup) {
    setup.onLoad({ filter: /policies\/rules\/shipped-rules\.ts$/ }, async () => {
      const { shippedRules } = await import('../../policies/rules/shipped-rules.ts')
      return { contents: `const rules = ${JSON.stringify(shippedRules())}\nexport const shippedRules = () => rules\n` }
    })
    setup.onLoad({ filter: /sandbox\/protected\/prepared-places\.ts$/ }, async () => {
      const { preparedPlaces } = await import('../../sandbox/protected/prepared-places.ts')
      const text = JSON.stringify(preparedPlaces())
      // The protected places are parsed as JSON when they are needed, because V8 would compile such a long literal as code.
      return { contents: `export const preparedPlaces = () => JSON.parse(${JSON.stringify(text)})\n` }
    })
    setup.onLoad({ filter: /sandbox\/helper\/prepared-helpers\.ts$/ }, async () => {
      const { preparedHelpers } = await import('../../sandbox/helper/prepared-helpers.ts')
      const text = JSON.stringify(preparedHelpers())
      return { contents: `const helpers = ${text}\nexport const preparedHelpers = () => helpers\n` }
    })
    setup.onLoad({ filter: /engine\/core\/backend-names\.ts$/ }, async () => {
      const { names } = await import('../../engine/core/backend-names.ts')
      return { contents: `export const names = ${JSON.stringify(names)}\n` }
    })
    setup.onLoad({ filter: /engine\/tools\/prepared-schemas\.ts$/ }, async () => {
      const { builtInTools } = await import('../../engine/app/built-in-tools.ts')
      const schemas = builtInTools.map(({ name, declaration }) => [name, declaration?.parameters])
      const text = JSON.stringify(Object.fromEntries(schemas))
      return { contents: `const schemas = ${text}\nexport const preparedSchemas = () => schemas\n` }
    })
  },
}
