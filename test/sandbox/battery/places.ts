import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile, readdir } from 'node:fs/promises'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { basename, join } from 'node:path'
import process from 'node:process'

/** The part of the host that probes attack. It is created for one run of the battery, and then removed. */
export type Places = {
  /** The directory that contains the other directories. It is not below /tmp, which a sandbox hides anyway. */
  readonly base: string
  readonly workspace: string
  /** A directory next to the workspace, to which commands are granted no access. */
  readonly outside: string
  readonly home: string
  /** The port on the host at which a TCP server and a UDP server listen. */
  readonly port: number
  /** The number of datagrams that the UDP server has received. */
  readonly datagrams: () => number
  readonly socket: string
  readonly abstractSocket: string
  /** The id of a process on the host. `hostMark` is a word in the command line of this process. */
  readonly hostPid: number
  readonly hostMark: string
  readonly node: string
  /** A unique name for files in directories that other programs also use, such as /tmp. */
  readonly stray: string
  close(): Promise<void>
}

/** The secret that must not be visible in a sandbox, wherever it is stored. */
export const secret = 'hunter2-of-the-host'

let hosts = 0

/** Creates a workspace with repositories, a home directory with secrets, and servers and a process on the host. */
export async function makePlaces(): Promise<Places> {
  const base = await mkdtemp('/var/tmp/portcullis-battery-')
  const [workspace, outside, home] = [join(base, 'workspace'), join(base, 'outside'), join(base, 'home')]
  for (const directory of [workspace, outside, `${workspace}-evil`]) await mkdir(directory)
  for (const name of ['.ssh', '.aws', '.gnupg', '.codex', '.claude', '.docker', '.config/gh']) {
    await mkdir(join(home, name), { recursive: true })
    await writeFile(join(home, name, 'credentials'), secret)
  }
  for (const name of ['.netrc', '.npmrc', '.bash_history', '.git-credentials'])
    await writeFile(join(home, name), secret)
  await writeFile(join(home, '.bashrc'), '# mine\n')
  await writeFile(join(outside, 'file'), 'mine\n')
  spawnSync('cp', ['-a', `${await template()}/.`, workspace])
  await symlink(outside, join(workspace, 'link-to-outside'))
  await symlink(join(home, '.ssh'), join(workspace, 'link-to-keys'))

  const socket = join(outside, 'socket')
  const stray = `${basename(base)}-stray`
  const abstractSocket = `\0${stray}`
  const tcp = await listen({ host: '127.0.0.1', port: 0 })
  const servers = [tcp, await listen({ path: socket }), await listen({ path: abstractSocket })]
  const tcpAddress = tcp.address()
  const port = typeof tcpAddress === 'object' && tcpAddress !== null ? tcpAddress.port : 0
  let datagrams = 0
  const udp = createSocket('udp4', () => (datagrams += 1)).bind(port, '127.0.0.1')
  await once(udp, 'listening')
  hosts += 1
  const hostMark = `9${process.pid}.${hosts}`
  const sleeper = spawn('sleep', [hostMark], { stdio: 'ignore' })
  return {
    base,
    workspace,
    outside,
    home,
    port,
    datagrams: () => datagrams,
    socket,
    abstractSocket,
    hostPid: sleeper.pid ?? 0,
    hostMark,
    node: process.execPath,
    stray,
    close: async () => {
      sleeper.kill('SIGKILL')
      for (const server of [...servers, udp]) server.close()
      // The home stays for now: probes run side by side, and one that still runs may have found this home in the environment.
      homes.push(base)
      const names = existsSync(base) ? await readdir(base) : []
      const inBase = names.map((name) => join(base, name)).filter((place) => place !== home)
      for (const place of [...inBase, `/tmp/${stray}`, `/var/tmp/${stray}`])
        await rm(place, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The directories of closed places, which contain nothing but their homes. */
const homes: string[] = []
let made: Promise<string> | undefined

/** A repository that contains another one. It is created only once, because calling git each time would make creating `Places` slow. */
function template(): Promise<string> {
  made ??= (async () => {
    const directory = await mkdtemp('/var/tmp/portcullis-battery-template-')
    for (const repository of [directory, join(directory, 'a/b/c/d/e')]) {
      await mkdir(repository, { recursive: true })
      spawnSync('git', ['init', '-q', repository])
    }
    await writeFile(join(directory, 'file'), 'committed\n')
    const git = ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@b']
    spawnSync('git', [...git, 'add', 'file'])
    spawnSync('git', [...git, 'commit', '-qm', 'first'])
    return directory
  })()
  return made
}

/** Removes what probes share: the repository from which all workspaces were copied, and all homes. */
export async function removeShared(): Promise<void> {
  for (const base of homes.splice(0)) await rm(base, { recursive: true, force: true, maxRetries: 5 })
  if (made !== undefined) await rm(await made, { recursive: true, force: true })
  made = undefined
}

function listen(where: { readonly host: string; readonly port: number } | { readonly path: string }): Promise<Server> {
  const server = createServer((connection) => connection.on('error', () => undefined).end('reached'))
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => resolve(server))
  })
}
