import { spawn } from 'node:child_process'
import process from 'node:process'
import { onTestFinished } from 'vitest'
import { shellJoin } from '../../engine/core/text/shell-join.ts'
import type { AgentOptions } from './agent.ts'
import { startMockOpenAI, type MockOpenAI, type Reply } from './mock-openai.ts'
import { tempDir } from './temp-dir.ts'

const program = new URL('../../dist/bin/agent.js', import.meta.url).pathname

/** Text to type after another text has been shown. */
export type Typed = { readonly after: string; readonly text: string }

/** How a program at a terminal ended, and everything its terminal showed. */
type AtTerminal = { readonly code: number | null; readonly shown: string }

/**
 * Runs `agent exec` in a terminal of its own, with a mock of OpenAI's API. Each text is typed once the text that it waits for has appeared. The
 * search begins after the text that was found last.
 */
export async function execAtTerminal(
  replies: readonly Reply[],
  args: readonly string[],
  typed: readonly Typed[],
  options: Partial<AgentOptions> & Pick<AgentOptions, 'cwd'>,
): Promise<AtTerminal & { readonly requests: MockOpenAI['requests'] }> {
  const mock = await startMockOpenAI({ replies })
  onTestFinished(() => mock.close())
  const words = ['exec', '-m', 'gpt-5.5', '-c', `openai_base_url=${mock.baseUrl}`, ...args]
  return { ...(await agentAtTerminal(words, typed, options)), requests: mock.requests }
}

/** Runs `agent` in a terminal of its own, and types input as `execAtTerminal` does. */
export async function agentAtTerminal(
  args: readonly string[],
  typed: readonly Typed[],
  options: Partial<AgentOptions> & Pick<AgentOptions, 'cwd'>,
): Promise<AtTerminal> {
  const home = options.home ?? tempDir()
  const words = [process.execPath, program, ...args]
  // Without `exec`, a shell would wait between the terminal and the program, and Ctrl-C would decide its exit code.
  const child = spawn('script', ['-qec', `exec ${shellJoin(words)}`, '/dev/null'], {
    cwd: options.cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      XDG_CONFIG_HOME: `${home}/.config`,
      XDG_STATE_HOME: `${home}/.local/state`,
      NO_COLOR: '1',
      TERM: 'xterm',
      OPENAI_API_KEY: 'sk-test-key',
      ...options.env,
    },
    stdio: 'pipe',
  })
  let shown = ''
  let seen = 0
  const left = [...typed]
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    for (let next = left[0]; next !== undefined; next = left[0]) {
      const at = shown.indexOf(next.after, seen)
      if (at === -1) return
      seen = at + next.after.length
      left.shift()
      child.stdin.write(next.text)
    }
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  return { code, shown: shown.replaceAll('\r', '') }
}
