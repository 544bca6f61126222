import process from 'node:process'
import { openRun } from '../app/open-run.ts'
import { plainSink } from '../display/plain.ts'
import type { Sink } from '../core/events.ts'
import { exitCodes } from '../core/exit-codes.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import { catchInterrupts } from './interrupts.ts'
import { commonRequest } from './request-from-options.ts'
import { patchTool, shellTool } from './served-calls.ts'
import { servedRun } from './served-run.ts'
import { rawOutput } from './print.ts'

/**
 * `agent mcp-server`: offers this program's functions to other agents. Their calls go through the same Guardian and sandbox as those of `agent exec`.
 *
 * @returns the exit code
 * @throws UserError for problems that the user has to fix; in that case nothing was run
 */
export async function runMcpServer(options: ConfigOptions): Promise<number> {
  // No person can be asked for approval, because standard input carries the protocol, so nobody can type an answer there.
  const request = { ...commonRequest(options), outsideRepository: true }
  const ending = new AbortController()
  const release: (() => void)[] = []
  const run = openRun({
    ...request,
    task: { type: 'calls' },
    source: 'mcp-server',
    sinks: [toStderr()],
    loaded: () => void release.push(catchInterrupts((reason) => ending.abort(reason))),
  })
  try {
    await run.ready
    const { serve } = await import('../mcp/serve.ts')
    const tools = [servedRun(request), shellTool(run), patchTool(run)]
    await serve(tools, { stdin: process.stdin, stdout: rawOutput.stdout, signal: ending.signal })
    return exitCodes.done
  } finally {
    await run.close()
    for (const free of release) free()
  }
}

/** Shows progress to the person who started the server. It uses standard error, because standard output carries the protocol. */
function toStderr(): Sink {
  return plainSink((text) => rawOutput.stderr.write(text), { colour: false, detail: 'normal' })
}
