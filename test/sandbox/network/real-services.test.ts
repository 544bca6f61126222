import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import process from 'node:process'
import { expect, onTestFinished } from 'vitest'
import { openSandbox, parsePolicy } from '../../../sandbox/index.ts'
import { needsPrograms } from '../../support/needs.ts'
import { describeInBoth } from '../both-backends.ts'
import { image } from '../docker-image.ts'
import { closeLater, run, temporaryDirectory } from '../helpers.ts'

/** The directory of PostgreSQL's own programs, which Debian doesn't put into PATH. */
const postgres = existsSync('/usr/lib/postgresql')
  ? `/usr/lib/postgresql/${readdirSync('/usr/lib/postgresql').at(-1)}/bin`
  : '/usr/bin'

/** A server of this machine and the client that commands use. */
type RealService = {
  readonly name: string
  readonly needs: readonly string[]
  /** Starts the server at the port in its working directory, and stays in the foreground. */
  readonly serve: (port: number) => string
  /** Asks the server for 42. Until it listens, this fails. */
  readonly ask: (host: string, port: number) => string
}

const services: readonly RealService[] = [
  {
    name: 'PostgreSQL',
    needs: [`${postgres}/initdb`, `${postgres}/psql`],
    serve: (port) =>
      `${postgres}/initdb -D db -U me -A trust && exec ${postgres}/postgres -D db -p ${port} -c unix_socket_directories=`,
    ask: (host, port) => `${postgres}/psql -At -h ${host} -p ${port} -U me postgres -c 'select 6 * 7'`,
  },
  {
    name: 'Redis',
    needs: ['redis-server', 'redis-cli'],
    serve: (port) => `exec redis-server --port ${port} --save ''`,
    ask: (host, port) => `redis-cli -h ${host} -p ${port} eval 'return 6 * 7' 0`,
  },
  {
    name: 'MariaDB',
    needs: ['mariadb-install-db', 'mariadbd', 'mysql'],
    serve: (port) =>
      `mariadb-install-db --no-defaults --datadir=$PWD/db --auth-root-authentication-method=normal &&
       exec mariadbd --no-defaults --datadir=$PWD/db --port=${port} --bind-address=127.0.0.1 --socket=$PWD/s --pid-file=$PWD/p --skip-grant-tables`,
    ask: (host, port) => `mysql --no-defaults --protocol=tcp -h ${host} -P ${port} -u root -N -e 'select 6 * 7'`,
  },
]

/** Databases refuse to run as root. */
const nobody = 65_534
const asNobody =
  process.geteuid?.() === 0 ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : []

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Starts a server on this machine, waits until it answers, and ends it with the test. */
async function start({ serve, ask }: RealService): Promise<number> {
  const [port, directory] = [await freePort(), await temporaryDirectory()]
  if (asNobody.length > 0) chownSync(directory, nobody, nobody)
  const [file = 'sh', ...words] = [...asNobody, 'sh', '-c', serve(port)]
  const server = spawn(file, words, { cwd: directory, stdio: 'ignore' })
  const ended = once(server, 'exit')
  onTestFinished(async () => {
    server.kill('SIGKILL')
    await ended
  })
  while (spawnSync('sh', ['-c', ask('127.0.0.1', port)], { timeout: 10_000 }).status !== 0) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return port
}

describeInBoth('a real service in %s', ({ backend, test, readableRoots }) => {
  for (const service of services) {
    const runs = needsPrograms(...service.needs) ? test.skip : test
    runs(
      `${service.name} answers its own client`,
      async () => {
        const port = await start(service)
        const policy = { mode: 'workspace-write', workspace: await temporaryDirectory(), readableRoots } as const
        const services = [`db=localhost:${port}`]
        const sandbox = closeLater(await openSandbox(parsePolicy({ ...policy, services }), { backend, image }))
        const asked = ['127.0.0.1', '::1', 'db'].map((host) => service.ask(host, port))
        expect(await run(sandbox, asked.join(' && '))).toMatchObject({ stdout: '42\n42\n42\n', stderr: '' })
      },
      120_000,
    )
  }
})
