import type { Plugin } from 'esbuild'

/**
 * A plugin that leaves out the parts of dockerode that reach a daemon over ssh and build images. This package needs neither:
 * the workspace is mounted for commands, so the daemon must be on this machine, where it is reached through a socket; and the images must already
 * exist.
 *
 * The purpose of this plugin is not a faster start: without it, two native add-ons in C++ and a library for Protocol Buffers would have to be part of
 * this package.
 */
export const localDocker: Plugin = {
  name: 'local-docker',
  setup(setup) {
    const unused = /^(?:ssh2|protobufjs|@grpc\/.*|tar-fs|@balena\/dockerignore)$/
    setup.onResolve({ filter: unused }, ({ path, importer }) =>
      /\/node_modules\/(?:dockerode|docker-modem)\//.test(importer) ? { path, namespace: 'unused' } : undefined,
    )
    // Replaces the functions of Node's `url` that print a warning when code outside `node_modules` calls them.
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
          throw new Error('Only a docker daemon on this machine is used: ${path} is not part of this package.')
        }
        module.exports = new Proxy(function () {}, { get: () => refuse, apply: refuse, construct: refuse })`,
    }))
  },
}
