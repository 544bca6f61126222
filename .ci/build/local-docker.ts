import type { Plugin } from 'esbuild'

/**
 * Dockerode brings what reaches a daemon over ssh and what builds images: two programs in C++, and a protocol compiler. Commands run with
 * the workspace mounted, so the daemon is this machine's, behind a socket, and images are there already.
 *
 * No trick for the start: without it these would have to be part of the package.
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
