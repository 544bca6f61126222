import { openRun } from '../../app/open-run.ts'
import type { OpenedFacts } from '../../app/run-client.ts'
import { exitCodes } from '../../core/exit-codes.ts'
import { maskSecrets } from '../../core/text/mask-secrets.ts'
import { UserError } from '../../core/user-error.ts'
import { serverName } from '../../mcp/server-name.ts'
import process from 'node:process'
import { catchInterrupts } from '../interrupts.ts'
import { print, printJson } from '../print.ts'
import { commonRequest } from '../request-from-options.ts'
import { configurationHere, noServer } from './configured-servers.ts'
import type { NamedServerOptions } from './mcp-options.ts'

/**
 * `agent mcp test`: opens a run that does nothing, so that servers are started as in any run, in its sandbox.
 *
 * @param name the only server to try; undefined: all
 * @returns the exit code
 * @throws UserError `usage` for an error in the configuration, and if there is no server of this name
 */
export async function testServers(options: NamedServerOptions, name?: string): Promise<number> {
  const { config, servers } = configurationHere(options)
  const { servers: known, faults } = servers(config)
  const wanted = known.filter((one) => name === undefined || one.name === serverName(name))
  if (wanted.length === 0 && name !== undefined) throw new UserError('usage', noServer(name, known))
  const opened = Promise.withResolvers<OpenedFacts>()
  const release: (() => void)[] = []
  const run = openRun({
    ...commonRequest(options),
    task: { type: 'calls' },
    outsideRepository: true,
    ephemeral: true,
    transaction: { land: 'never' },
    client: {
      // Nothing else is sent before all have been tried.
      servers: { servers: wanted.map((server) => ({ ...server, required: false, alwaysLoad: true })), faults },
      onlyServers: true,
      opened: opened.resolve,
    },
    loaded: () => void release.push(catchInterrupts((reason) => run.interrupt(reason))),
  })
  run.result.catch(opened.reject)
  try {
    const { servers: states, tools } = await opened.promise
    const mask = maskSecrets(process.env)
    for (const { name: server, problem } of states) {
      const own = tools.filter((tool) => tool.startsWith(`mcp__${server}__`))
      if (options.json === true)
        printJson({
          name: server,
          available: problem === undefined,
          ...(problem === undefined ? { tools: own } : { problem: mask(problem) }),
        })
      else if (problem === undefined)
        print(`${server}: available, ${own.length} tools`, ...own.map((tool) => `  ${tool}`))
      else print(`${server}: not available: ${mask(problem)}`)
    }
    return states.some(({ problem }) => problem !== undefined) ? exitCodes.failed : exitCodes.done
  } finally {
    await run.close()
    for (const free of release) free()
  }
}
