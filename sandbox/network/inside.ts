import process from 'node:process'

/** Where commands find the proxy: an address of their own network namespace, so every command has it to itself. */
export const proxyPort = 3128

/** The descriptor over which the listener is handed out. It is closed before the command starts. */
export const channelDescriptor = 6

/** Where the program that opens the port is shown inside: `/dev` is made for each sandbox anew. */
export const listenerPath = '/dev/portcullis-listen'

/** How the script below says that it failed, for whoever reads the command's complaints. */
export const listenerFailed = 'portcullis: the proxy of the network allow-list did not start'

/** To be put before the program's own words, inside the sandbox: opens the proxy's port, then becomes the program. */
export const listenFirst: readonly string[] = [
  '/bin/sh',
  '-c',
  [
    `${listenerPath} || { echo "${listenerFailed} (error $?)" >&2; exit 125; }`,
    `exec ${channelDescriptor}>&-`,
    'exec "$@"',
  ].join('\n'),
  'sh',
]

const proxy = `http://127.0.0.1:${proxyPort}`
const local = 'localhost,127.0.0.1,::1'

/**
 * For ssh, which knows no proxy itself: a Node script that connects standard input and output through ours. It stands in a variable
 * of its own, since shells of all kinds read the command that names it.
 */
const throughProxy = `
const [host, port] = process.argv.slice(1)
const socket = require('node:net').connect(${proxyPort}, '127.0.0.1', () => socket.write('CONNECT ' + host + ':' + port + ' HTTP/1.1\\r\\n\\r\\n'))
let answer = Buffer.alloc(0)
socket.on('error', () => process.exit(1))
socket.on('data', function read(data) {
  answer = Buffer.concat([answer, data])
  const end = answer.indexOf('\\r\\n\\r\\n')
  if (end < 0) return
  socket.off('data', read)
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) {
    process.stderr.write(answer.subarray(end + 4))
    socket.pipe(process.stderr)
    return
  }
  process.stdout.write(answer.subarray(end + 4))
  socket.pipe(process.stdout)
  process.stdin.pipe(socket)
})`

/**
 * What tells programs to use the proxy. The same spelling for every protocol: `socks5h` in `ALL_PROXY` would be right too, but HTTP libraries
 * without support for it fail at the sight of it. Connections within the sandbox go direct.
 */
export const proxyVariables: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [
      [name, proxy],
      [name.toLowerCase(), proxy],
    ]),
  ),
  NO_PROXY: local,
  no_proxy: local,
  npm_config_proxy: proxy,
  npm_config_https_proxy: proxy,
  npm_config_noproxy: local,
  // Node reads the variables above only when told to.
  NODE_USE_ENV_PROXY: '1',
  PORTCULLIS_CONNECT: throughProxy,
  GIT_SSH_COMMAND: `ssh -o BatchMode=yes -o 'ProxyCommand="${process.execPath}" -e "$PORTCULLIS_CONNECT" %h %p'`,
}
