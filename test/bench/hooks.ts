import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHooks } from '../../engine/hooks/hooks.ts'
import { loadHooks } from '../../engine/hooks/load-hooks.ts'
import { viewsOf } from '../../engine/hooks/views-of-call.ts'
import { openSandbox, parsePolicy, type Sandbox } from '../../sandbox/index.ts'
import { measureInTurns } from './measure.ts'
import type { BenchRow } from './row.ts'

const runs = 60
/** A hook that reads its input to the end, as hooks do, and prints nothing. */
const command = 'cat > /dev/null'

/** Measures what a command hook costs in addition to its process's own cost. */
export async function hooksBench(): Promise<readonly BenchRow[]> {
  const workspace = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  const settings = join(workspace, 'settings.json')
  const handler = { type: 'command', command }
  await writeFile(settings, JSON.stringify({ hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [handler] }] } }))
  const sandbox = await openSandbox(parsePolicy({ mode: 'danger-full-access', workspace }))
  const nobody = (): Promise<never> => Promise.reject(new Error('nobody is asked here'))
  const hooks = createHooks(loadHooks([{ path: settings, layer: 'user' }]), {
    common: () => ({ session_id: 'bench', cwd: workspace }),
    workspace,
    sandboxFor: () => Promise.resolve(sandbox),
    env: {},
    ask: nobody,
    callMcpTool: nobody,
    forbidsHost: () => undefined,
    keep: () => '',
    onRun: ({ status }) => {
      if (status !== 'completed') throw new Error(`the hook ${status}`)
    },
    signal: new AbortController().signal,
  })
  const views = viewsOf({ tool: 'exec_command', claudeNames: ['Bash'], input: { cmd: 'ls' } }, workspace)
  const directory = (): Promise<string> => Promise.resolve(workspace)
  try {
    const [hook, process] = await measureInTurns(
      [
        { directory, act: () => hooks.fireForCall('PreToolUse', views, { tool_use_id: 'call' }) },
        { directory, act: () => bareProcess(sandbox, workspace) },
      ],
      runs,
    )
    const wallMs = (hook?.wallMs ?? Number.NaN) - (process?.wallMs ?? Number.NaN)
    return [
      {
        name: 'hooks: a command hook, over its own process',
        ours: { wallMs },
        note: `${hook?.wallMs.toFixed(1)} ms with the process; unconfined, ${runs} runs in turns`,
      },
    ]
  } finally {
    await hooks.close()
    await sandbox.close()
    await rm(workspace, { recursive: true, force: true })
  }
}

async function bareProcess(sandbox: Sandbox, cwd: string): Promise<void> {
  const child = sandbox.spawn({ argv: ['/bin/sh', '-c', command], cwd, stdin: 'pipe' })
  child.stdout.resume()
  child.stderr.resume()
  child.stdin?.end('{}')
  await child.result
}
