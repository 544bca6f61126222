import * as z from 'zod'
import { Recorder } from '../../engine/run/recorder.ts'
import { noHooks } from '../../engine/tools/hook-interface.ts'
import { findCall, type CallPath } from '../../engine/run/find-call.ts'
import { runCall } from '../../engine/run/run-call.ts'
import { defineTool } from '../../engine/tools/define-tool.ts'
import { createRegistry } from '../../engine/tools/registry.ts'
import { openWorkingState } from '../../engine/tools/working-state.ts'
import { ToolIndex } from '../../engine/tools/search/tool-index.ts'
import type { Tool } from '../../engine/tools/tool.ts'
import { createGuardian, nobody, withoutAuditLog } from '../../policies/index.ts'
import { openSandbox, parsePolicy } from '../../sandbox/index.ts'
import { grepBench } from './grep.ts'
import type { BenchRow } from './row.ts'

/** Measures the tool system (creating a registry, searching for a tool, and calling a tool that does nothing) and the grep tool. */
export async function toolsBench(): Promise<readonly BenchRow[]> {
  const calls = 1_000
  const index = new ToolIndex(manyTools(5_000), false)
  return [
    {
      name: 'tools: a registry of 1,000 tools',
      ours: { wallMs: await median(9, () => void createRegistry({ builtIn: manyTools(1_000) })) },
      note: 'at most 20 ms: as servers describe them, defined and put in order',
    },
    {
      name: 'tools: a search over 5,000 tools',
      ours: {
        wallMs: await median(99, () => void index.search({ text: 'do what tool 4711 does', required: [], limit: 5 })),
      },
      note:
        'at most 5 ms: in an index made before, which took ' +
        `${(await median(3, () => void new ToolIndex(manyTools(5_000), false))).toFixed(0)} ms`,
    },
    {
      name: 'tools: the path of 1,000 calls',
      ours: { wallMs: await median(9, await callsThroughThePath(calls)) },
      note: 'at most 300 ms: schema, hooks, Guardian, cut, events; the tool does nothing',
    },
    await grepBench(),
  ]
}

const anyObject = z.looseObject({})

function manyTools(count: number): readonly Tool[] {
  return Array.from({ length: count }, (_, at) =>
    defineTool({
      name: `tool_${at}`,
      description: 'does what tools do',
      input: anyObject,
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      run: () => Promise.resolve({ ok: true, output: 'done' }),
    }),
  )
}

async function callsThroughThePath(count: number): Promise<() => Promise<void>> {
  const tool = defineTool({
    name: 'read',
    description: 'reads a file',
    input: z.object({ path: z.string() }),
    action: ({ path }) => ({ type: 'read', path }),
    run: () => Promise.resolve({ ok: true, output: 'a line\n'.repeat(1_000) }),
  })
  const sandbox = await openSandbox(parsePolicy({ mode: 'danger-full-access', workspace: '/' }))
  await sandbox.close()
  const path: CallPath = {
    registry: createRegistry({ builtIn: [...manyTools(100), tool] }),
    hooks: noHooks,
    attended: false,
    recorder: new Recorder([{ event: (event) => void JSON.stringify(event) }]),
    context: {
      workspace: '/',
      sandbox,
      guardian: createGuardian({ approvalMode: 'never', reviewer: nobody, audit: withoutAuditLog() }),
      state: openWorkingState(
        () => sandbox,
        () => '',
        {},
      ),
    },
  }
  const turn = { signal: new AbortController().signal, alone: () => Promise.resolve() }
  return async () => {
    for (let at = 0; at < count; at++) {
      const call = { id: `call_${at}`, name: 'read', kind: 'function' as const, input: '{"path":"/src/index.ts"}' }
      await runCall(findCall(call, path), path, turn)
    }
  }
}

async function median(runs: number, work: () => unknown): Promise<number> {
  await work()
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
}
