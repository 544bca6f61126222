import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { parsePolicy, openSandbox, type Sandbox } from '../../sandbox/index.ts'
import type { ApprovalMode, Reviewer } from '../../policies/index.ts'
import { createInspector } from '../agents/inspector.ts'
import type { AgentLoan } from '../agents/sub-agents.ts'
import { ignoredWhole, type Ignored } from '../config/ignored.ts'
import type { Config } from '../config/load.ts'
import type { Project } from '../config/read-project.ts'
import { CommandVariables } from '../hooks/command-variables.ts'
import type { ConfigFile } from '../hooks/config-watch.ts'
import { loadHooks, type HookSet } from '../hooks/load.ts'
import { withPermissionHooks } from '../hooks/permission-hooks.ts'
import { worktreeHooks } from '../hooks/worktree-hooks.ts'
import { hooksOfAgent, openHooks, type SessionSource } from '../hooks/run-hooks.ts'
import { testHooks } from '../hooks/self-test.ts'
import { expandServerPrompt, namesServerPrompt } from '../mcp/prompts.ts'
import type { McpServer } from '../mcp/server.ts'
import type { Model } from '../model.ts'
import type { PlanMode } from '../plan-mode/plan-mode.ts'
import { directoriesBetween } from '../paths.ts'
import type { Places } from '../places.ts'
import { noHooks, silentHooks, type CallHooks, type RunHooks } from '../run/hooks.ts'
import type { RunOptions } from '../run/run-options.ts'
import type { Session } from '../session/session.ts'
import type { AgentDefinition, Definitions, Skill } from '../skills/definition.ts'
import { findDefinitions } from '../skills/find-definitions.ts'
import { narrowedCalls, type NarrowedCalls } from '../skills/narrowed-calls.ts'
import { skillTool } from '../tools/skill.ts'
import type { LateTools } from '../tools/late-tools.ts'
import type { Tool, ToolPlace } from '../tools/tool.ts'
import type { WorktreeHooks } from '../worktree/worktrees.ts'
import { definitionFolders } from './definition-folders.ts'
import { forbidsUrl, type ForbidsHost } from './forbidden-hosts.ts'
import { hookFiles } from './hook-files.ts'
import { hookSurroundings } from './hook-surroundings.ts'
import { configuredServers } from './mcp-servers.ts'
import { openServers } from './open-servers.ts'
import { enabledPlugins } from './plugins.ts'

/** What users and repositories add to a run, read and checked; nothing of it runs yet. */
type Extensions = {
  readonly hooks: HookSet
  readonly servers: readonly McpServer[]
  readonly definitions: Definitions
  /** What a repository brings along in vain. */
  readonly ignored: readonly Ignored[]
}

/** Where they are read from. */
type ExtensionSources = {
  readonly places: Places
  readonly home: string
  readonly project: Project
  readonly config: Config
}

/** Files that hold nothing else, and count in trusted repositories only. */
const trustedOnly: readonly string[] = ['.mcp.json', '.portcullis/hooks.json']

/** The same at work. */
type OpenExtensions = {
  /** Of MCP servers. */
  readonly tools: LateTools
  /** Shows skills; undefined where there is none. */
  readonly skill: Tool | undefined
  readonly hooks: RunHooks
  /** Tells hooks of worktrees, and asks them for one. */
  readonly worktreeHooks: WorktreeHooks
  /** What hooks have set for commands by now. */
  readonly variables: () => Readonly<Record<string, string>>
  /** A model of the run, or of an agent that it hands work to, with hooks around its requests. */
  readonly aroundModel: (model: Model) => Model
  /** The same as an agent has them that the run hands work to; it is held to what its definition allows. */
  readonly hooksFor: (definition: AgentDefinition | undefined, id: string) => RunHooks
  /** Lets only these calls through from now on. */
  readonly narrow: NarrowedCalls['narrow']
  /** What a prompt stands for that names one of a server's; any other is itself. */
  readonly expandPrompt: (prompt: string) => Promise<string>
  /** Puts hooks that answer for people before a reviewer. */
  readonly beforeReviewer: (reviewer: Reviewer) => Reviewer
  /** What the run lends, once it has begun. */
  readonly loan: () => AgentLoan
  /** What the user should know, so far. */
  readonly notices: () => readonly string[]
  readonly close: () => Promise<void>
}

/** What they need of the run. */
type Around = {
  readonly workspace: string
  readonly sandbox: Sandbox
  readonly image: string | undefined
  readonly session: Session
  readonly source: SessionSource
  readonly approvalMode: ApprovalMode
  readonly planMode: PlanMode
  /** Where the run works at a moment. */
  readonly now: () => ToolPlace
  readonly configFiles: readonly ConfigFile[]
  readonly forbids: ForbidsHost
  readonly home: string
  /** A model by name, or the run's own. */
  readonly openModel: (name: string | undefined) => Promise<Model>
  /** The run's options and what it lends, for whoever works for it; there once it has begun. */
  readonly base: () => RunOptions
  readonly loan: () => AgentLoan | undefined
  /** Whether requests name the tools of servers only. */
  readonly deferred: boolean
  readonly signal: AbortSignal
}

/**
 * Reads hooks, MCP servers, skills, commands and agents.
 *
 * @throws UserError `usage` for anything wrong in any of their files
 */
export async function readExtensions({ places, home, project, config }: ExtensionSources): Promise<Extensions> {
  const brought = directoriesBetween(project.root, project.workspace).flatMap((directory) =>
    trustedOnly.map((name) => join(directory, name)).filter((path) => existsSync(path)),
  )
  const plugins = enabledPlugins(config.settings)
  return {
    hooks: loadHooks(hookFiles({ places, home, project, trusted: config.trusted, plugins })),
    servers: configuredServers(config, project, plugins, process.env),
    definitions: await findDefinitions(definitionFolders({ places, home, project }, plugins)),
    ignored: config.trusted ? [] : brought.map((path) => ignoredWhole(path, 'this repository is not trusted')),
  }
}

/**
 * Starts MCP servers and gets hooks ready.
 *
 * @throws UserError `usage` where a required server is not there
 */
export async function openExtensions(extensions: Extensions, around: Around): Promise<OpenExtensions> {
  const { sandbox, workspace } = around
  const forbidsHost = (url: URL): string | undefined => forbidsUrl(around.forbids, url)
  let unconfined: Promise<Sandbox> | undefined
  const outside = (): Promise<Sandbox> =>
    (unconfined ??= openSandbox(
      parsePolicy({ mode: 'danger-full-access', workspace, environment: sandbox.policy.environment }),
    ))
  const closeOutside = async (): Promise<void> => (await unconfined)?.close()
  const early: string[] = []
  const tell = (message: string): void => {
    const desk = around.loan()?.desk
    if (desk === undefined) early.push(message)
    else desk.open({ type: 'error', message }).complete({})
  }
  const loan = (): AgentLoan => {
    const lent = around.loan()
    if (lent === undefined) throw new TypeError('nothing is lent before the run begins')
    return lent
  }
  let opened: Awaited<ReturnType<typeof openServers>>
  try {
    opened = await openServers(extensions.servers, { ...around, outside, forbidsHost, tell })
  } catch (error) {
    await closeOutside()
    throw error
  }
  const closeServers = async (): Promise<void> => {
    await opened.close()
    await closeOutside()
  }
  const { tools, servers } = opened
  const { definitions } = extensions
  const inspect = createInspector({ ...around, loan, calls: () => hooks?.inspectorCalls ?? noHooks })
  const variables = new CommandVariables(sandbox.policy.environment)
  const { surroundings, close } = hookSurroundings({
    ...around,
    outside,
    loan,
    servers,
    forbidsHost,
    inspect,
    variables,
  })
  const hooks =
    extensions.hooks.hooks.size === 0 ? undefined : openHooks(extensions.hooks, around.source, surroundings, around)
  const missingServer = (name: string): string | undefined => {
    const state = servers?.states().find(({ server }) => server.name === name)
    return state === undefined ? `there is no MCP server ${name}` : state.problem
  }
  const faults =
    hooks === undefined
      ? []
      : await testHooks(extensions.hooks, { ...surroundings, home: around.home, forbidsHost, missingServer })
  const listening = hooks?.run ?? silentHooks
  const cwd = (): string => around.now().workspace
  const { calls, narrow } = narrowedCalls(listening.calls, cwd)
  const follow = ({ name, allowedTools, path }: Skill): void => {
    if (allowedTools !== undefined) narrow(allowedTools, `The skill ${name} (${path})`)
  }
  return {
    tools,
    skill: definitions.skills.length === 0 ? undefined : skillTool(definitions.skills, follow),
    hooks: { ...listening, calls },
    worktreeHooks: worktreeHooks(hooks?.hooks),
    variables: () => variables.values,
    aroundModel: (model) => hooks?.around(model) ?? model,
    hooksFor: (definition, id) => {
      const own = narrowedCalls(calls, cwd)
      if (definition?.allowedTools !== undefined) own.narrow(definition.allowedTools, `The agent ${definition.name}`)
      const agent = { id, type: definition?.name ?? 'general' }
      const asked: CallHooks = {
        before: (call) => own.calls.before({ ...call, agent }),
        after: (call, result, took) => own.calls.after({ ...call, agent }, result, took),
      }
      return hooks === undefined
        ? { ...silentHooks, stopped: listening.stopped, calls: asked }
        : { ...hooksOfAgent(hooks.hooks, listening, agent), calls: asked }
    },
    narrow,
    expandPrompt: async (prompt) =>
      namesServerPrompt(prompt) ? expandServerPrompt(prompt, servers, around.signal) : prompt,
    beforeReviewer: (reviewer) => (hooks === undefined ? reviewer : withPermissionHooks(reviewer, hooks.hooks)),
    loan,
    notices: () => [...opened.notices, ...early, ...extensions.hooks.notices, ...faults, ...definitions.faults],
    close: async () => {
      await hooks?.close()
      await close()
      await closeServers()
    },
  }
}
