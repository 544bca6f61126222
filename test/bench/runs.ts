import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { Output } from '../support/mock-model.ts'
import { call, freeform, say, startMockOpenAI, type MockOpenAI } from '../support/mock-openai.ts'
import { measureInTurns, type Measured } from './measure.ts'
import { environmentFor, oldBuild, thisBuild } from './old-build.ts'
import { findCodex } from './peer.ts'
import type { BenchRow } from './row.ts'

const calls = 20

/** The kinds of runs to measure. `say` returns the mock model's output for a response; each run begins with the first response again. */
const scenarios: readonly { readonly name: string; readonly responses: number; say(index: number): Output }[] = [
  { name: 'one reply', responses: 0, say: () => say('done') },
  { name: `${calls} shell calls`, responses: calls, say: (index) => call('exec_command', { cmd: `true ${index}` }) },
  {
    name: `${calls} patches`,
    responses: calls,
    say: (index) => freeform('apply_patch', `*** Begin Patch\n*** Add File: f${index}.txt\n+x\n*** End Patch\n`),
  },
]

/** Measures whole runs of `agent exec` with a model on loopback that answers immediately, so that only the engine's own cost is left. */
export async function runsBench(): Promise<readonly BenchRow[]> {
  const work = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-bench-')))
  // This folder isn't in the system's temporary directory, because Codex refuses to put its helpers in a folder there.
  await mkdir(join(homedir(), '.cache'), { recursive: true })
  const codexHome = await mkdtemp(join(homedir(), '.cache/portcullis-bench-'))
  try {
    const rows: BenchRow[] = []
    for (const scenario of scenarios) {
      const mock = await startMockOpenAI({
        replies: (_, index) => {
          const at = index % (scenario.responses + 1)
          return [at < scenario.responses ? scenario.say(at) : say('done')]
        },
      })
      try {
        const codex = findCodex()
        const peers =
          oldBuild !== undefined
            ? [ours(mock, work, oldBuild)]
            : codex === undefined
              ? []
              : [theirs(codex, mock, work, codexHome)]
        const programs = [ours(mock, work, thisBuild), ...peers]
        const runs = oldBuild !== undefined ? 20 : scenario.responses === 0 ? 9 : 5
        const [cost, peer] = await measureInTurns(programs, runs)
        if (cost === undefined) continue
        rows.push({
          name: scenario.name,
          ours: cost,
          ...(peer === undefined ? {} : { peer }),
          note: `${oldBuild === undefined ? '' : 'peer: the other build; '}median of ${runs}`,
        })
      } finally {
        await mock.close()
      }
    }
    return rows
  } finally {
    await rm(work, { recursive: true, force: true })
    await rm(codexHome, { recursive: true, force: true })
  }
}

async function freshRepository(work: string): Promise<string> {
  const directory = await mkdtemp(join(work, 'repository-'))
  execFileSync('git', ['init', '--quiet', directory])
  return directory
}

/** Describes a run of `agent exec` from a build, with a mock model. `more` contains additional arguments. */
export function ours(mock: MockOpenAI, work: string, build: string, more: readonly string[] = []): Measured {
  const agent = join(build, 'dist/bin/agent.js')
  const model = ['-m', 'gpt-5.5', '-c', `openai_base_url=${mock.baseUrl}`]
  return {
    argv: [process.execPath, agent, 'exec', '--json', '-s', 'workspace-write', ...model, ...more, 'go'],
    directory: () => freshRepository(work),
    env: {
      OPENAI_API_KEY: 'none',
      HOME: work,
      XDG_STATE_HOME: join(work, 'state'),
      XDG_CONFIG_HOME: join(work, 'config'),
      ...environmentFor(build, work),
    },
  }
}

function theirs(codex: string, mock: MockOpenAI, work: string, home: string): Measured {
  const provider = `{name="mock",base_url="${mock.baseUrl}",wire_api="responses",env_key="MOCK_KEY"}`
  const model = ['-m', 'gpt-5.5', '-c', 'model_provider="mock"', '-c', `model_providers.mock=${provider}`]
  return {
    argv: [codex, 'exec', '--json', '--skip-git-repo-check', '-s', 'workspace-write', ...model, 'go'],
    directory: () => freshRepository(work),
    env: { CODEX_HOME: home, HOME: home, MOCK_KEY: 'none' },
  }
}
