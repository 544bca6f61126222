import process from 'node:process'

/** The port at which commands find the proxy. It is in the command's own network namespace, so it can't conflict with other commands. */
export const proxyPort = 3128

/** The port at which commands find the hosts of credentials, whose names mean their own loopback. */
export const plainPort = 80

/** What of a policy decides which ports are open. */
type Ports = {
  readonly network: { readonly mode: string }
  readonly services: readonly { readonly port: number; readonly name?: string | undefined }[]
  readonly credentials: readonly unknown[]
}

/** The ports that are open inside the sandbox when a command starts: the proxy's, if it has something to do, and those of services. */
export function openPorts(ports: Ports): readonly number[] {
  const own = [...(isProxied(ports) ? [proxyPort] : []), ...(ports.credentials.length > 0 ? [plainPort] : [])]
  return [...own, ...ports.services.map(({ port }) => port)]
}

function isProxied({ network, credentials }: Ports): boolean {
  return network.mode === 'allowlist' || credentials.length > 0
}

/** The descriptor through which the listening sockets are sent to the engine. It is closed before the command starts. */
export const channelDescriptor = 7

/**
 * The message that the script in `listenFirst` prints if a port can't be opened. In a container, the helper (`network.c`) prints it after
 * any failure except a missing directory. Other code looks for it in the command's error output.
 */
export const listenerFailed = 'portcullis: the port of the proxy or of a service could not be opened'

/** The message that the helper prints in a container if it can't change to the command's directory. */
export const directoryMissing = "portcullis: the command's working directory is not in the container"

/**
 * Arguments to put before a command's own arguments, inside the sandbox. They open the ports, and then start the command.
 *
 * @param helper the path of the helper inside the sandbox
 */
export const listenFirst = (helper: string, ports: readonly number[]): readonly string[] => [
  '/bin/sh',
  '-c',
  [
    `${helper} listen ${channelDescriptor} ${ports.join(' ')} || { echo "${listenerFailed} (error $?)" >&2; exit 125; }`,
    `exec ${channelDescriptor}>&-`,
    'exec "$@"',
  ].join('\n'),
  'sh',
]

const proxy = `http://127.0.0.1:${proxyPort}`

/**
 * A Node script that ssh starts as its `ProxyCommand`, because ssh itself doesn't support our proxy. The script connects its standard input and
 * output to the host through the proxy. It is in an environment variable of its own, because many kinds of shells parse the ssh command that uses it,
 * and each has different quoting rules.
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
 * Variables that make programs use the proxy. The proxy's URL is the same for every protocol. A `socks5h` URL would be correct in `ALL_PROXY`, but
 * HTTP libraries that don't support such URLs fail if they find one.
 */
const proxyVariables: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [
      [name, proxy],
      [name.toLowerCase(), proxy],
    ]),
  ),
  npm_config_proxy: proxy,
  npm_config_https_proxy: proxy,
  // Node uses the variables above only if this one is set.
  NODE_USE_ENV_PROXY: '1',
  PORTCULLIS_CONNECT: throughProxy,
  GIT_SSH_COMMAND: `ssh -o BatchMode=yes -o 'ProxyCommand="${process.execPath}" -e "$PORTCULLIS_CONNECT" %h %p'`,
}

/** The variables of commands that concern the network. Connections within the sandbox, which include those to services, bypass every proxy. */
export function networkVariables(ports: Ports): Readonly<Record<string, string>> {
  const { services } = ports
  if (openPorts(ports).length === 0) return {}
  const names = services.flatMap(({ name }) => (name === undefined ? [] : [name]))
  const local = ['localhost', '127.0.0.1', '::1', ...names].join(',')
  return {
    ...(isProxied(ports) ? proxyVariables : {}),
    ...{ NO_PROXY: local, no_proxy: local, npm_config_noproxy: local },
  }
}
