import { randomUUID } from 'node:crypto'
import { isAbsolute } from 'node:path'
import process from 'node:process'
import * as z from 'zod'
import { nameOfModel, openNamed } from '../../app/choose-model.ts'
import { configure } from '../../app/load-run.ts'
import { readExtensions } from '../../app/read-extensions.ts'
import type { Configured } from '../../app/stages.ts'
import { findWorkspace } from '../../app/workspace.ts'
import { rootsOf } from '../../config/configured-policy.ts'
import { stateFor } from '../../core/app-paths.ts'
import { UserError } from '../../core/user-error.ts'
import { prepareStart, type Beginning } from '../../session/start-session.ts'
import { oneLine, summaries } from '../session-summaries.ts'
import { AcpSession } from './acp-session.ts'
import { mcpServer } from './mcp-server.ts'
import { RpcError, type Peer } from './peer.ts'
import { block, promptTask } from './prompt-task.ts'

const absolute = z.string().refine(isAbsolute, 'expected an absolute path')
const [dirs, servers] = [z.array(absolute).default([]), z.array(mcpServer).default([])]
// The id is the name of a folder, so it must be nothing but a UUID.
const id = z.string().regex(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/, 'expected the id of a session')

const New = z.object({ cwd: absolute, mcpServers: servers, additionalDirectories: dirs })
const Earlier = New.extend({ sessionId: id })
const OfSession = z.object({ sessionId: z.string() })
const Prompt = z.object({ prompt: z.array(block).min(1) })
const Choice = z.object({ configId: z.string(), value: z.string() })

/** The sessions of a client, and the methods of the protocol that are about them. */
export class Sessions {
  readonly #peer: Peer
  readonly #source: string
  readonly #open = new Map<string, AcpSession>()
  /** The prompts in progress, by the ids of their requests. */
  readonly #prompts = new Map<unknown, AcpSession>()
  #isClosed = false

  constructor(peer: Peer, source: string) {
    this.#peer = peer
    this.#source = source
  }

  /** Answers a request, or acts on a notification. */
  async serve(method: string, params: unknown, id: unknown): Promise<object> {
    try {
      return await this.#answer(method, params ?? {}, id)
    } catch (cause) {
      if (cause instanceof z.ZodError)
        throw new RpcError('invalidParams', `${method}: ${z.prettifyError(cause)}`, { cause })
      throw cause instanceof UserError ? new RpcError('internal', cause.message, { cause }) : cause
    }
  }

  /** Ends all prompts, and begins no others. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#open.values()].map((session) => session.cancel()))
  }

  async #answer(method: string, params: unknown, requestId: unknown): Promise<object> {
    switch (method) {
      case 'authenticate':
        return authenticate()
      case 'session/new':
        return this.#begin({ ...New.parse(params), sessionId: randomUUID() })
      case 'session/load':
      case 'session/resume':
        return this.#begin(Earlier.parse(params), method)
      case 'session/list':
        return list(z.object({ cwd: absolute.optional() }).parse(params))
      case 'session/cancel':
        await this.#open.get(OfSession.parse(params).sessionId)?.cancel()
        return {}
      case 'session/close': {
        const session = this.#find(params)
        this.#open.delete(session.place.id)
        await session.cancel()
        return {}
      }
      case 'session/prompt': {
        const session = this.#find(params)
        const task = promptTask(Prompt.parse(params).prompt)
        if (this.#isClosed) return { stopReason: 'cancelled' }
        const answered = session.prompt(task)
        this.#prompts.set(requestId, session)
        return answered.finally(() => this.#prompts.delete(requestId))
      }
      case '$/cancel_request':
        await this.#prompts.get(z.object({ requestId: z.unknown() }).parse(params).requestId)?.cancel()
        return {}
      case 'session/set_mode':
        this.#find(params).choose('mode', z.object({ modeId: z.string() }).parse(params).modeId)
        return {}
      case 'session/set_config_option': {
        const session = this.#find(params)
        const { configId, value } = Choice.parse(params)
        session.choose(configId, value)
        return { configOptions: session.options.configOptions }
      }
      default:
        throw new RpcError('methodNotFound', `There is no method ${method}.`)
    }
  }

  /** Opens a session. Mistakes in the configuration are reported before there is a prompt. `again`: the method that opens an earlier session. */
  async #begin(given: z.infer<typeof Earlier>, again?: 'session/load' | 'session/resume'): Promise<object> {
    const { cwd, mcpServers: servers, additionalDirectories: addDirs, sessionId } = given
    this.#open.get(sessionId)?.requireIdle()
    const place = { id: sessionId, workspace: findWorkspace(cwd, 'cwd'), addDirs, servers, source: this.#source }
    const session = new AcpSession(place, this.#peer)
    const configured = await configure({ ...session.request, task: { type: 'calls' } })
    const earlier = again === undefined ? undefined : beginningOf(sessionId, configured).resumedFrom
    session.isStored = again !== undefined
    session.model = nameOfModel(configured.config, false, earlier?.model)
    const availableCommands = await commandsOf(configured)
    // A prompt may have begun in the meantime, and only a session that is open is ended with the program.
    this.#open.get(sessionId)?.requireIdle()
    this.#open.set(sessionId, session)
    if (earlier !== undefined && again === 'session/load') session.replay(earlier)
    setImmediate(() => session.update('available_commands_update', { availableCommands }))
    return again === undefined ? { sessionId, ...session.options } : session.options
  }

  #find(params: unknown): AcpSession {
    const { sessionId } = OfSession.parse(params)
    const session = this.#open.get(sessionId)
    if (session !== undefined) return session
    throw new RpcError('notFound', `Resource not found: there is no session ${sessionId} here. Begin or load it first.`)
  }
}

/** Finds the history of a session of the workspace. */
function beginningOf(sessionId: string, { settings, places, workspace }: Configured): Beginning {
  const state = stateFor(rootsOf(settings, workspace), places.state)
  try {
    return prepareStart({ type: 'resume', id: sessionId, here: true }, state, workspace)
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause
    throw new RpcError('notFound', `Resource not found: ${cause.message}`, { cause })
  }
}

/** Checks that there is a key for the model. */
async function authenticate(): Promise<object> {
  const [workspace, environment] = [findWorkspace(process.cwd()), process.env]
  const request = { task: { type: 'calls' }, workspace, environment, outsideRepository: true } as const
  const { config, settings } = await configure(request)
  const sources = { settings, workspace, from: workspace, environment: { ...config.modelVariables, ...environment } }
  try {
    await openNamed(nameOfModel(config, false, undefined), sources)
    return {}
  } catch (cause) {
    throw new RpcError('authRequired', `Authentication required: ${(cause as Error).message}`, { cause })
  }
}

/** Lists the stored sessions of a folder, or of all folders. */
function list({ cwd }: { readonly cwd?: string | undefined }): object {
  const at = cwd === undefined ? undefined : findWorkspace(cwd, 'cwd')
  const shown = summaries(at).filter(({ end, prompt }) => prompt !== '' && end !== 'unreadable')
  const sessions = shown.map(({ id: sessionId, workspace, prompt, started: updatedAt }) => {
    return { sessionId, cwd: workspace, title: oneLine(prompt, 100), updatedAt }
  })
  return { sessions }
}

/** The commands that a prompt can begin with. */
async function commandsOf(configured: Configured): Promise<readonly object[]> {
  const { definitions } = await readExtensions({ ...configured, environment: process.env })
  return [...definitions.commands, ...definitions.skills].map((each) => {
    const hint = (each.kind === 'command' ? each.argumentHint : undefined) ?? 'what to do'
    return { name: each.name, description: each.description, input: { hint } }
  })
}
