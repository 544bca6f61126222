import type { Plugin } from 'esbuild'

/**
 * OpenAI's client makes an object for each of the hundred resources of the API, of which we use none: requests go through the client's own
 * `post`. Empty classes in their place save half a megabyte at every start that asks a model.
 *
 * For memory: in processor time no difference was seen.
 */
export const emptyResources: Plugin = {
  name: 'empty-resources',
  setup(setup) {
    setup.onResolve({ filter: /\.mjs$/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData !== undefined || !/\/node_modules\/openai\/.*\.mjs$/.test(importer)) return undefined
      const { path: found } = await setup.resolve(path, { importer, resolveDir, kind, pluginData: { seen: true } })
      return { path: found, sideEffects: false }
    })
    setup.onLoad({ filter: /\/node_modules\/openai\/resources\/.*\.mjs$/ }, async ({ path }) => {
      const names = Object.keys((await import(path)) as object)
      return { contents: names.map((name) => `export class ${name} {}\n`).join('') }
    })
  },
}

/**
 * Chevrotain puts its parser together from 200 methods, one by one, and V8 copies the table of an object's properties each time:
 * two thirds of a megabyte at every start, which is a garbage collection. An object that a property was deleted from keeps
 * them in a dictionary, which grows in place.
 *
 * For memory: in processor time it gains 1 to 2 ms of `apply-patch`, within what runs differ by.
 */
export const mixins: Plugin = {
  name: 'mixins',
  setup(setup) {
    setup.onLoad({ filter: /chevrotain\/lib\/src\/parse\/parser\/utils\/apply_mixins\.js$/ }, () => ({
      contents: `
        export function applyMixins({ prototype }, mixins) {
          prototype.first = prototype.second = undefined
          delete prototype.first
          delete prototype.second
          for (const mixin of mixins) {
            const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(mixin.prototype)
            Object.defineProperties(prototype, methods)
          }
        }`,
    }))
  },
}

/**
 * Dockerode brings what reaches a daemon over ssh and what builds images: two programs in C++, and a protocol compiler. Commands run with
 * the workspace mounted, so the daemon is this machine's, behind a socket, and images are there already.
 */
export const localDocker: Plugin = {
  name: 'local-docker',
  setup(setup) {
    const unused = /^(?:ssh2|protobufjs|@grpc\/.*|tar-fs|@balena\/dockerignore)$/
    setup.onResolve({ filter: unused }, ({ path, importer }) =>
      /\/node_modules\/(?:dockerode|docker-modem)\//.test(importer) ? { path, namespace: 'unused' } : undefined,
    )
    // What Node's `url` has for that warns wherever it is not called from a folder of packages.
    setup.onResolve({ filter: /^url$/ }, ({ importer }) =>
      importer.includes('/node_modules/docker-modem/') ? { path: 'url', namespace: 'quiet' } : undefined,
    )
    setup.onLoad({ filter: /.*/, namespace: 'quiet' }, () => ({
      contents: `
        const { URL, Url, format } = require('node:url')
        const parse = (text) => {
          const parsed = new Url()
          parsed.parse(text)
          return parsed
        }
        const resolve = (from, to) => parse(from).resolveObject(parse(to)).format()
        module.exports = { URL, format, parse, resolve }`,
    }))
    setup.onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({
      contents: `
        const refuse = () => {
          throw new Error('Only a docker daemon of this machine is used: ${path} is not part of this package.')
        }
        module.exports = new Proxy(function () {}, { get: () => refuse, apply: refuse, construct: refuse })`,
    }))
  },
}

/**
 * Packages that few runs need. Bundled into a program, each of their functions would be made at every start, and be part of what V8 read of it;
 * so each name stands for a bundle of its own, which is loaded when the first module that imports one of these is.
 *
 * Gains 12 ms of processor time at the start of `agent exec` (164 instead of 177 ms, medians of 16 runs by turns).
 */
export const vendorsApart: Readonly<Record<string, readonly string[]>> = {
  execa: ['execa'],
  'json-schema': ['ajv', 'ajv/dist/2019.js', 'ajv/dist/2020.js'],
  mcp: [
    'client/index.js',
    'client/sse.js',
    'client/streamableHttp.js',
    'client/websocket.js',
    'server/index.js',
    'server/stdio.js',
    'shared/stdio.js',
    'types.js',
  ].map((file) => `@modelcontextprotocol/sdk/${file}`),
}

/** For a program: an import of such a package takes it from its bundle. */
export const takeVendors: Plugin = {
  name: 'take-vendors',
  setup(setup) {
    const bundles = new Map(Object.entries(vendorsApart).flatMap(([name, paths]) => paths.map((path) => [path, name])))
    setup.onResolve({ filter: /^[@a-z]/ }, ({ path, kind }) => {
      if (kind === 'require-call' || !bundles.has(path)) return undefined
      return { path, namespace: 'apart', sideEffects: false }
    })
    setup.onResolve({ filter: /^\.\.\/chunks\// }, ({ path }) => ({ path, external: true }))
    setup.onLoad({ filter: /.*/, namespace: 'apart' }, ({ path }) => {
      const name = bundles.get(path) ?? ''
      const at = vendorsApart[name]?.indexOf(path)
      return { contents: `module.exports = require('../chunks/${name}.js').part${at}` }
    })
  },
}

/** For such a bundle: all that is imported of its package. */
export const bundleVendors: Plugin = {
  name: 'bundle-vendors',
  setup(setup) {
    setup.onResolve({ filter: /^apart:/ }, ({ path }) => ({ path, namespace: 'whole' }))
    setup.onLoad({ filter: /.*/, namespace: 'whole' }, ({ path }) => {
      const paths = vendorsApart[path.slice('apart:'.length)] ?? []
      const lines = paths.map((each, at) => `export * as part${at} from '${each}'\n`)
      return { contents: lines.join(''), resolveDir: '.' }
    })
  },
}
