import process from 'node:process'
import { onTestFinished } from 'vitest'
import { createHooks, type HookRun, type Hooks, type HookDependencies } from '../../../engine/hooks/hooks.ts'
import { loadHooks } from '../../../engine/hooks/load-hooks.ts'
import { openSandbox, parsePolicy } from '../../../sandbox/index.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** The hooks of a settings file, which run in a real sandbox, and the records of their runs. */
export type TestHooks = { readonly hooks: Hooks; readonly runs: readonly HookRun[]; readonly workspace: string }

/** Loads the hooks from a settings file with this `hooks` table, and opens the sandbox in which they run. */
export async function hooksOf(table: object, given: Partial<HookDependencies> = {}): Promise<TestHooks> {
  const workspace = given.workspace ?? tempDir()
  const settings = tempDir({ 'settings.json': JSON.stringify({ hooks: table }) })
  const sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace }))
  onTestFinished(() => sandbox.close())
  const runs: HookRun[] = []
  const hooks = createHooks(loadHooks([{ path: `${settings}/settings.json`, layer: 'user' }]), {
    common: () => ({ session_id: 'abc', transcript_path: '/nowhere', cwd: workspace, permission_mode: 'default' }),
    workspace,
    sandboxFor: () => Promise.resolve(sandbox),
    env: process.env,
    ask: () => Promise.reject(new Error('no model here')),
    callMcpTool: () => Promise.reject(new Error('no server here')),
    forbidsHost: () => undefined,
    keep: () => '/kept',
    onRun: (run) => runs.push(run),
    signal: new AbortController().signal,
    ...given,
  })
  onTestFinished(() => hooks.close())
  return { hooks, runs, workspace }
}

/** An entry of a `hooks` table: a matcher, and a command hook for each of these lines. */
export function commands(matcher: string | undefined, ...lines: readonly string[]): object {
  return {
    ...(matcher === undefined ? {} : { matcher }),
    hooks: lines.map((command) => ({ type: 'command', command })),
  }
}
