import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { agent, eventsOf, type AgentOptions, type Ended } from './agent.ts'
import type { RunEvent } from '../../engine/core/events.ts'
import { startMockOpenAI, type MockOpenAI, type Reply } from './mock-openai.ts'
import { tempDir } from './temp-dir.ts'

/** A git repository with these files, none of which is committed. */
export function repository(files: Readonly<Record<string, string>> = {}): string {
  const directory = tempDir(files)
  execFileSync('git', ['init', '--quiet', directory])
  return directory
}

export type Exec = Ended & {
  /** The events on standard output, if `--json` was among the arguments. */
  readonly events: readonly RunEvent[]
  readonly requests: MockOpenAI['requests']
}

/** Runs `agent exec` against a mock of OpenAI's API that gives these replies. */
export async function exec(
  replies: readonly Reply[] | ((index: number) => Reply),
  args: readonly string[],
  options: Partial<AgentOptions> & Pick<AgentOptions, 'cwd'> & { readonly baseUrl?: (url: string) => string },
): Promise<Exec> {
  const mock = await startMockOpenAI({
    replies: typeof replies === 'function' ? (_, index) => replies(index) : replies,
    ids: randomUUID(),
  })
  onTestFinished(() => mock.close())
  const url = options.baseUrl?.(mock.baseUrl) ?? mock.baseUrl
  const ended = await agent(['exec', '-m', 'gpt-5.5', '-c', `openai_base_url=${url}`, ...args], {
    home: tempDir(),
    ...options,
    env: { OPENAI_API_KEY: 'sk-test-key', ...options.env },
  })
  return { ...ended, events: args.includes('--json') ? eventsOf(ended.stdout) : [], requests: mock.requests }
}
