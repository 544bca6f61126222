import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensureImage, image } from '../../sandbox/docker-image.ts'
import { call, freeform, say, startMockOpenAI, type Reply } from '../../support/mock-openai.ts'
import { runAs, type Ended, type Scene, type User } from './scene.ts'

/** The parts of a run that run commands, each of which uses the sandbox in its own way. */
export const surfaces = ['shell', 'js_repl', 'mcp', 'hook', 'task', 'agent'] as const
export type Surface = (typeof surfaces)[number]

/** A tool call by a model: the tool's name and its input. */
export type ToolCall = readonly [name: string, input: Readonly<Record<string, unknown>>]

type RunOptions = {
  readonly user: User
  /** The sandbox's backend. `unconfined` confines nothing, and shows that the attacks succeed without confinement. */
  readonly backend: 'bubblewrap' | 'docker' | 'unconfined'
  readonly program: { readonly argv: readonly string[]; readonly node: string }
  /** The parts of the run that execute the workspace's script `attack.sh`. Each passes its own name as the argument. */
  readonly acting: readonly Surface[]
  /** Calls to other tools, which the model makes first. */
  readonly calls?: readonly ToolCall[]
  readonly env?: Readonly<Record<string, string>>
  /** Lines to add to the table `sandbox_read` of `config.toml`, and tables to put after it. Default: none. */
  readonly config?: string
  /** A command line that the shell runs at the end of the run. */
  readonly later?: string
  /** Further command-line arguments. */
  readonly words?: readonly string[]
  /** Further paths that commands in docker can read. */
  readonly readable?: readonly string[]
}

/** A run, and everything that it printed, sent or stored. */
export type Attacked = Ended & {
  /**
   * Everything that the run sent to the provider, printed or stored, as one text: requests, standard output and error, rollouts, audit logs and kept
   * outputs.
   */
  readonly said: string
}

/** A server of the Model Context Protocol whose only tool runs the script. */
const server = (script: string): string => `
  import { createInterface } from 'node:readline'
  import { spawnSync } from 'node:child_process'
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (id === undefined) return
    if (method === 'initialize') return send({ id, result: { protocolVersion: '2025-06-18', serverInfo: { name: 'go', version: '1' }, capabilities: { tools: {} } } })
    if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'go', inputSchema: { type: 'object' } }] } })
    const { stdout, stderr } = spawnSync('sh', [${JSON.stringify(script)}, 'mcp'], { encoding: 'utf8' })
    send({ id, result: { content: [{ type: 'text', text: stdout + stderr }] } })
  })`

/** Performs a real run in which the model makes every actor run the script. */
export async function attackBy(
  scene: Pick<Scene, 'workspace' | 'home' | 'write' | 'handOver'>,
  options: RunOptions,
): Promise<Attacked> {
  const { user, backend, program, acting, calls = [], env = {} } = options
  if (backend === 'docker') ensureImage()
  const script = join(scene.workspace, 'attack.sh')
  const does = (surface: Surface): boolean => acting.includes(surface)
  const line = (surface: Surface): string => `sh ${script} ${surface}`
  const turns: readonly Reply[] = [
    calls.map(([name, input]) => (name === 'apply_patch' ? freeform(name, String(input['input'])) : call(name, input))),
    [
      ...(does('task') ? [call('task_create', { title: 'attack', cmd: line('task') })] : []),
      ...(does('shell')
        ? [call('exec_command', { cmd: line('shell'), timeout_ms: 600_000, yield_time_ms: 300_000 })]
        : []),
      ...(does('js_repl')
        ? [
            call('js_repl', {
              code: `require('node:child_process').execFileSync('sh', [${JSON.stringify(script)}, 'js_repl'], { encoding: 'utf8' })`,
              timeout_ms: 600_000,
            }),
          ]
        : []),
      ...(does('mcp') ? [call('mcp__go__go', {})] : []),
      ...(does('agent') ? [call('agent', { title: 'attack', prompt: 'The helper: attack' })] : []),
    ],
    [...(does('task') ? [call('task_output', { task_id: 'task-1', wait_ms: 600_000 })] : [])],
    options.later === undefined
      ? []
      : [call('exec_command', { cmd: options.later, timeout_ms: 600_000, yield_time_ms: 300_000 })],
  ].filter((turn) => turn.length > 0)
  let turn = 0
  const mock = await startMockOpenAI({
    replies: ({ body }) => {
      const { input } = body as { input: readonly { role?: string; type?: string; content?: unknown }[] }
      const asked = JSON.stringify(input.findLast(({ role }) => role === 'user')?.content ?? '')
      if (asked.includes('The helper'))
        return input.at(-1)?.type === 'message'
          ? [call('exec_command', { cmd: line('agent'), timeout_ms: 600_000, yield_time_ms: 300_000 })]
          : [say('looked')]
      return turns[turn++] ?? [say('nothing more')]
    },
  })
  const visible = [dirname(program.node), ...(backend === 'docker' ? ['/usr'] : []), ...(options.readable ?? [])]
  const config = [
    backend === 'unconfined' ? 'sandbox_mode = "danger-full-access"' : `sandbox_backend = "${backend}"`,
    ...(backend === 'docker' ? [`sandbox_image = "${image}"`] : []),
    '[permissions]\nallow = ["mcp__go__*"]',
    `[sandbox_read]\nallow = ${JSON.stringify(visible)}`,
    options.config ?? '',
    ...(does('mcp')
      ? [
          `[mcp_servers.go]\ncommand = ${JSON.stringify(program.node)}\nargs = ["--input-type=module", "-e", ${JSON.stringify(server(script))}]`,
          'startup_timeout_sec = 60\ntool_timeout_sec = 600',
        ]
      : []),
  ].join('\n')
  scene.write('home/.config/portcullis/config.toml', config)
  if (does('hook')) {
    const hook = { type: 'command', command: line('hook'), timeout: 600 }
    scene.write('home/.claude/settings.json', JSON.stringify({ hooks: { SessionStart: [{ hooks: [hook] }] } }))
  }
  scene.handOver(user)
  try {
    const words = [
      'exec',
      '-m',
      'gpt-5.5',
      '-c',
      `openai_base_url=${mock.baseUrl}`,
      '--json',
      ...(options.words ?? []),
      'The boss: attack',
    ]
    const ended = await runAs(user, [...program.argv, ...words], {
      cwd: scene.workspace,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: scene.home, OPENAI_API_KEY: 'sk-test-key', ...env },
      group: backend === 'docker' ? statSync('/var/run/docker.sock').gid : undefined,
    })
    const requests = mock.requests.map(({ body }) => JSON.stringify(body))
    return { ...ended, said: [...requests, ended.stdout, ended.stderr, ...keptBy(scene)].join('\n') }
  } finally {
    await mock.close()
  }
}

/**
 * The run's own records: its session and outputs, without files that existed before, and without copies of the workspace's own files: the view, and what
 * `agent undo` needs to restore what a run removed.
 */
function keptBy({ home }: Pick<Scene, 'home'>): readonly string[] {
  // `find` also gets through trees whose paths are too long for other programs.
  const places = ['old', 'view', 'changes', 'apply-patch'].flatMap((name) => ['-name', name, '-o']).slice(0, -1)
  const words = ['.local/state/portcullis', '(', ...places, ')', '-prune', '-o', '-type', 'f', '-print0']
  const files = execFileSync('find', words, { cwd: home, encoding: 'utf8' }).split('\0').slice(0, -1)
  return files.map((file) => readFileSync(join(home, file), 'latin1'))
}

/** Writes the script `attack.sh`, which parts of the run execute. Each part's output is also written to `out/NAME`, where NAME is the part's name. */
export function writeScript({ workspace }: Scene, body: string): void {
  const text = `export PATH=/usr/local/bin:/usr/bin:/bin\ncd '${workspace}'\nmkdir -p out\n{\n${body}\n} 2>&1 | tee out/$1\n`
  writeFileSync(join(workspace, 'attack.sh'), text)
}
