import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { ApprovalMode } from '../../policies/index.ts'
import type { Inspect } from '../agents/inspector.ts'
import { meteredModel } from '../agents/metered-model.ts'
import type { RunHandle } from '../agents/sub-agents.ts'
import { openSandbox, parsePolicy, type Denial, type Sandbox, type SandboxPolicy } from '../../sandbox/index.ts'
import type { CommandVariables } from '../hooks/command-variables.ts'
import type { HookDependencies } from '../hooks/hooks.ts'
import { runsOutside, type Hook } from '../hooks/load-hooks.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'
import { judgement } from '../hooks/run-prompt-hook.ts'
import { serverName } from '../mcp/server-name.ts'
import type { McpServers } from '../mcp/servers.ts'
import type { Model } from '../core/model.ts'
import type { Session } from '../session/session.ts'
import { rulesForProxy, type NetworkWatch } from './run-sandbox.ts'
import { envFiles } from './hook-env-files.ts'
import type { ForbidsHost } from './forbidden-hosts.ts'

/** Claude Code's names for the approval policies. Hooks receive these names. */
const permissionModes: Readonly<Record<ApprovalMode, string>> = {
  untrusted: 'default',
  'on-failure': 'acceptEdits',
  'on-request': 'acceptEdits',
  never: 'dontAsk',
  bypass: 'bypassPermissions',
}

/** Entries in the user's Claude Code folder that hooks must not change because they decide what runs. */
const settled = [
  'settings.json',
  'settings.local.json',
  'hooks',
  'agents',
  'commands',
  'skills',
  'plugins',
  'CLAUDE.md',
  'rules',
  'output-styles',
  'keybindings.json',
  'local',
  'bin',
  'statusline.sh',
  'statusline-command.sh',
]

/**
 * Entries in the user's Claude Code folder that hooks can't read, because only Claude Code itself needs them: its keys, the history of conversations and
 * input, and similar data.
 */
const secret = [
  '.credentials.json',
  'history.jsonl',
  'projects',
  'shell-snapshots',
  'file-history',
  'paste-cache',
  'session-env',
]

/** Matches the names of files and folders that hooks use to keep notes between runs, in the user's Claude Code folder. */
const notes = /\.(?:log|txt|jsonl|csv|tsv|db|sqlite3?|tmp|lock|pid)$|^(?:logs?|notes|state|cache|data|todos|tmp)$/i

type HookDependencyOptions = {
  readonly workspace: string
  readonly environment: Readonly<NodeJS.ProcessEnv>
  readonly sandbox: Sandbox
  /** The image for the docker backend; undefined if none is configured. */
  readonly image: string | undefined
  readonly session: Session
  readonly home: string
  readonly approvalMode: ApprovalMode
  readonly planMode: PlanMode
  /** Receives the variables that hooks set for commands. */
  readonly variables: CommandVariables
  readonly servers: McpServers | undefined
  /** Returns why a host is forbidden. It is used for the sandbox in which hooks run. */
  readonly forbids: ForbidsHost
  readonly forbidsHost: (url: URL) => string | undefined
  /** Opens a model by name, or, if the name is undefined, the run's own model. */
  readonly openModel: (name: string | undefined) => Promise<Model>
  /** Returns a handle to the run, whose budget pays for the models that hooks use. Hooks run only after the run has begun. */
  readonly runHandle: () => RunHandle
  /** Opens the unconfined sandbox, for hooks that are configured to run outside the sandbox. */
  readonly outside: () => Promise<Sandbox>
  /** What watches the network of the run's sandbox. It also watches that of hooks. */
  readonly watch: NetworkWatch
  /** Runs the sub-agent that judges an event for an `agent` hook. */
  readonly inspect: Inspect
  readonly signal: AbortSignal
}

/** The dependencies of a run's hooks, and a function that releases them. */
export function hookDependencies(options: HookDependencyOptions): {
  readonly dependencies: Omit<HookDependencies, 'onRun'>
  readonly close: () => Promise<void>
} {
  const { workspace, sandbox, session, servers } = options
  let own: Promise<Sandbox> | undefined
  const sandboxFor = (hook: Hook): Promise<Sandbox> => {
    if (runsOutside(hook)) return options.outside()
    return hook.file.layer === 'project' ? Promise.resolve(sandbox) : (own ??= openForUser(sandbox, options))
  }
  return {
    dependencies: {
      common: () => ({
        session_id: session.threadId,
        transcript_path: join(session.directory, 'rollout.jsonl'),
        cwd: workspace,
        permission_mode: options.planMode.requestedBy === undefined ? permissionModes[options.approvalMode] : 'plan',
      }),
      workspace,
      sandboxFor,
      envFileFor: envFiles({
        directory: session.directory,
        sandboxFor,
        open: (policy) => openLike(options, policy),
        variables: options.variables,
      }),
      env: options.environment,
      ask: async ({ kind, text, model: name }, signal) => {
        const { runContext } = options.runHandle()
        const exhausted = runContext.exhausted()
        if (exhausted !== undefined) throw new Error(exhausted)
        const opened = await options.openModel(name)
        if (kind === 'agent') return options.inspect({ prompt: text, model: opened, judgement }, signal)
        const model = meteredModel(runContext.within(opened), runContext.spend)
        let said = ''
        const history = [{ type: 'message' as const, role: 'user' as const, text }]
        const request = { instructions: judge, tools: [], history, threadId: `${session.threadId}-hook` }
        for await (const event of model.respond(request, signal)) {
          if (event.type === 'message') said = event.text
          if (event.type === 'retry') said = ''
        }
        return said
      },
      callMcpTool: async (server, tool, input, signal) => {
        if (servers === undefined) throw new Error('no MCP server is configured')
        const result = await servers.call(serverName(server), tool, input as Readonly<Record<string, unknown>>, signal)
        if (result.isError) throw new Error(result.text)
        return result.text
      },
      forbidsHost: options.forbidsHost,
      keep: (text) => session.keepOutput(new TextEncoder().encode(text)),
      signal: options.signal,
    },
    close: async () => {
      await (await own)?.close()
    },
  }
}

const judge = 'You judge one event of a program that works by itself. Answer exactly as you are asked to.'

/**
 * Opens a sandbox like the run's, but extended so that hooks other than the repository's can keep notes in `~/.claude`, as they can with Claude Code.
 * Returns the given sandbox if there is no such folder, or if the mode is not `workspace-write`.
 */
async function openForUser(sandbox: Sandbox, options: HookDependencyOptions): Promise<Sandbox> {
  const { policy } = sandbox
  const folder = join(options.home, '.claude')
  if (policy.mode !== 'workspace-write' || !existsSync(folder)) return sandbox
  const wider = parsePolicy({
    ...policy,
    writableRoots: [...policy.writableRoots, folder],
    deniedReads: [...policy.deniedReads, ...secret.map((name) => join(folder, name))],
    // A hook may run code from the workspace, which could plant code in files that are executed or read as configuration later. Therefore, hooks can
    // change only those existing files that contain notes.
    protectedPaths: [
      ...policy.protectedPaths,
      ...[...settled, ...readdirSync(folder).filter((name) => !notes.test(name))].map((name) => join(folder, name)),
    ],
  })
  const absent = settled.filter((name) => !existsSync(join(folder, name))).map((name) => join(folder, name))
  const inner = await openLike(options, wider)
  return {
    ...inner,
    spawn: (command) => {
      const started = inner.spawn(command)
      const result = started.result.then((ended) => ({
        ...ended,
        denials: [...ended.denials, ...absent.filter((path) => existsSync(path)).map(setAside)],
      }))
      // The rejection reaches whoever awaits the result; a caller that only kills the hook must not crash because of it.
      result.catch(() => undefined)
      return { ...started, result }
    },
  }
}

/** Gives an entry that a hook has made another name, under which no program looks for it. */
function setAside(path: string): Denial {
  const to = `${path}.made-by-a-hook-${randomUUID().slice(0, 8)}`
  renameSync(path, to)
  return {
    kind: 'path',
    subject: `${path} (it is now ${to})`,
    rule: 'hooks make nothing that other programs execute or read as configuration',
    certainty: 'proven',
    remedy: { kind: 'otherwise', advice: 'look at it and, if you want it, rename it yourself' },
  }
}

/** Opens a sandbox with another policy but with the same backend as the run's sandbox. */
function openLike({ sandbox, image, forbids, watch }: HookDependencyOptions, policy: SandboxPolicy): Promise<Sandbox> {
  const { backend } = sandbox
  return openSandbox(policy, {
    backend,
    image,
    network: rulesForProxy(forbids, watch),
    known: sandbox.known?.(),
  })
}
