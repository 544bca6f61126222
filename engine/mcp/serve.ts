import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import { Readable, type Writable } from 'node:stream'
import * as z from 'zod'
import { readLines } from '../core/text/read-lines.ts'
import { UserError } from '../core/user-error.ts'
import { version } from '../core/version.ts'

/** The result of a call, as the caller receives it. */
export type ServedResult = {
  readonly text: string
  readonly ok: boolean
  /** The result as data, in addition to the text. Default: there is only the text. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** A tool that is offered to other agents. */
export type ServedTool = {
  readonly name: string
  readonly description: string
  readonly input: z.ZodType
  /**
   * Runs the tool.
   *
   * @param report sends a progress message to the caller, if the caller asked for progress
   */
  readonly run: (input: unknown, signal: AbortSignal, report: (message: string) => void) => Promise<ServedResult>
}

/**
 * Serves tools over standard input and output, one JSON message per line, until the input ends or the signal is aborted. Invalid arguments
 * and failed tools are reported as results and never end the server.
 */
export async function serve(
  tools: readonly ServedTool[],
  { stdin, stdout, signal }: { readonly stdin: Readable; readonly stdout: Writable; readonly signal: AbortSignal },
): Promise<void> {
  const server = new Server({ name: 'portcullis', version }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, input }) => ({
      name,
      description,
      inputSchema: z.toJSONSchema(input, { io: 'input' }) as { type: 'object' },
    })),
  }))
  const calls = new Set<Promise<unknown>>()
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (tool === undefined) {
      const known = tools.map(({ name }) => name).join(', ')
      throw new McpError(ErrorCode.InvalidParams, `There is no tool '${params.name}'. The tools are: ${known}.`)
    }
    const input = tool.input.safeParse(params.arguments ?? {})
    if (!input.success)
      return answer({ ok: false, text: `The arguments are not valid.\n${z.prettifyError(input.error)}` })
    const token = params._meta?.progressToken
    let steps = 0
    const report = (message: string): void => {
      if (token === undefined) return
      const progress = { progressToken: token, progress: ++steps, message }
      void extra.sendNotification({ method: 'notifications/progress', params: progress }).catch(() => undefined)
    }
    const running = tool.run(input.data, AbortSignal.any([extra.signal, signal]), report)
    const settled = running.catch(() => undefined).finally(() => calls.delete(settled))
    calls.add(settled)
    try {
      return answer(await running)
    } catch (error) {
      return answer({ ok: false, text: `${tool.name} failed: ${(error as Error).message}` })
    }
  })
  const lines = Readable.from(linesOf(stdin), { objectMode: false })
  const transport = new StdioServerTransport(lines, stdout)
  const over = new Promise<void>((resolve) => {
    server.onclose = () => resolve()
    lines.on('end', resolve)
    lines.on('close', resolve)
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  let fault: unknown
  lines.on('error', (error) => (fault = error))
  await server.connect(transport)
  await over
  await server.close()
  // Otherwise the process would wait for the next line.
  stdin.destroy()
  await Promise.allSettled(calls)
  if (fault instanceof UserError) throw fault
}

/** The longest line that a caller may write, in bytes. */
const longestLine = 64 * 1024 * 1024

async function* linesOf(stdin: Readable): AsyncGenerator<Buffer> {
  for await (const line of readLines(stdin, longestLine, 'Standard input')) yield Buffer.from(`${line}\n`)
}

function answer({ text, ok, data }: ServedResult): Record<string, unknown> {
  return { content: [{ type: 'text', text }], isError: !ok, ...(data === undefined ? {} : { structuredContent: data }) }
}
