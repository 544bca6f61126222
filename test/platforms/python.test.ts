import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { needsPrograms } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

const place = new URL('../../fixtures/examples/platforms/', import.meta.url).pathname

/** Runs Python with one of the examples and stand-ins for the packages that it imports. */
function python(folder: string, modules: Readonly<Record<string, string>>, code: string): unknown {
  const env = {
    PATH: process.env['PATH'],
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONPATH: `${tempDir(modules)}:${place}${folder}`,
    OPENAI_API_KEY: 'sk-test',
  }
  const { status, stdout, stderr } = spawnSync('python3', ['-c', code], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

/** As much of Harbor's interface as the class uses. */
const harbor = {
  'harbor/agents/installed/base.py': `
import os
class BaseInstalledAgent:
    def __init__(self, logs_dir, model_name=None, version=None):
        self.logs_dir, self.model_name, self._version, self.ran = logs_dir, model_name, version, []
    def _get_env(self, key):
        return os.environ.get(key)
    async def ensure_system_dependencies(self, environment, names):
        self.ran.append(list(names))
    async def exec_as_agent(self, environment, command, env=None):
        self.ran.append([command, env])
def with_prompt_template(run):
    return run
`,
  'harbor/environments/base.py': 'class BaseEnvironment: pass\n',
  'harbor/models/agent/context.py': 'class AgentContext: pass\n',
}

describe.skipIf(needsPrograms('python3'))('the Python examples, with stand-ins for the packages', () => {
  test('Harbor installs the package and runs the task', () => {
    const code = `
import asyncio, json, pathlib
from portcullis_agent import Portcullis
agent = Portcullis(pathlib.Path('/'), 'openai/gpt-5.5', '0.1.0')
asyncio.run(agent.install(None))
asyncio.run(agent.run("say 'hi'", None, None))
print(json.dumps([agent.name(), agent.ran]))`
    const [name, ran] = python('harbor', harbor, code) as [string, [string[], [string, object], [string, object]]]
    expect(name).toBe('portcullis')
    expect(ran[1][0]).toContain('npm install -g portcullis@0.1.0')
    expect(spawnSync('bash', ['-n', '-c', ran[1][0]]).status).toBe(0)
    const [command, env] = ran[2]
    expect(command).toContain(
      'agent exec --json --externally-sandboxed --skip-git-repo-check --model gpt-5.5 | tee /logs/agent/portcullis.jsonl',
    )
    expect(env).toEqual({ OPENAI_API_KEY: 'sk-test', XDG_STATE_HOME: '/tmp/portcullis-state' })
    // The instruction reaches the program as it is.
    const [start = ''] = command.split('| agent exec')
    expect(spawnSync('bash', ['-c', start.slice(start.indexOf('printf'))], { encoding: 'utf8' }).stdout).toBe(
      "say 'hi'",
    )
  })

  test('Harbor learns what the run used from its last event', () => {
    const usage = { input_tokens: 30, cached_input_tokens: 12, output_tokens: 5 }
    const events = [
      '{"type":"turn.started"}',
      JSON.stringify({ type: 'turn.completed', usage, cost_usd: 0.5 }),
      'half a li',
    ]
    const logs = tempDir({ 'portcullis.jsonl': events.join('\n') })
    const code = `
import json, pathlib
from harbor.models.agent.context import AgentContext
from portcullis_agent import Portcullis
context = AgentContext()
Portcullis(pathlib.Path('${logs}'), 'openai/gpt-5.5').populate_context_post_run(context)
print(json.dumps(vars(context)))`
    expect(python('harbor', harbor, code)).toEqual({
      ...{ n_input_tokens: 30, n_cache_tokens: 12, n_output_tokens: 5, cost_usd: 0.5 },
    })
  })

  test('Inspect SWE takes the program that is in the sandbox', () => {
    const keep = 'def __init__(self, *args, **given): self.given = given\n'
    const modules = {
      'inspect_ai/__init__.py': `class Task:\n    ${keep}def task(make):\n    return make\n`,
      'inspect_ai/dataset.py': `class Sample:\n    ${keep}`,
      'inspect_ai/scorer.py': 'def includes(): return "includes"\n',
      'inspect_swe.py': 'def codex_cli(**given): return given\n',
    }
    const code = `
import json
from portcullis_swe import portcullis_swe
print(json.dumps(portcullis_swe().given, default=lambda sample: sample.given))`
    expect(python('inspect-swe', modules, code)).toMatchObject({
      solver: { version: 'sandbox', home_dir: '/tmp/portcullis-home' },
      dataset: [{ target: '42' }],
      sandbox: 'docker',
    })
  })
})
