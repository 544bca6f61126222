import { describe, expect, test } from 'vitest'
import { jsonlSink } from '../../../engine/display/jsonl.ts'
import { liveSink } from '../../../engine/display/live.ts'
import { plainSink } from '../../../engine/display/plain.ts'
import type { RunEvent, RunSummary, Sink } from '../../../engine/events.ts'

const command = {
  id: 'item_0',
  type: 'command_execution',
  command: `/bin/bash -c 'npm test'`,
  aggregated_output: '',
  exit_code: null,
  status: 'in_progress',
  call_id: 'call_1',
  cwd: '/w',
} as const

const summary: RunSummary = {
  exitCode: 0,
  reason: 'done',
  error: undefined,
  finalMessage: 'ok',
  filesChanged: [{ path: '/w/a.ts', kind: 'update' }],
  commands: { run: 2, failed: 1 },
  denied: [{ what: 'git push', reason: 'Ask a person.' }],
  usage: {
    input_tokens: 100,
    cached_input_tokens: 50,
    cache_write_input_tokens: 0,
    output_tokens: 7,
    reasoning_output_tokens: 0,
  },
  costUsd: 0.01234,
  durationMs: 1234,
}

const story: readonly RunEvent[] = [
  {
    type: 'thread.started',
    thread_id: 't',
    schema_version: 1,
    config: {
      model: 'm',
      cwd: '/w',
      sandbox_mode: 'read-only',
      sandbox_backend: 'bubblewrap',
      approval_policy: 'never',
      session_dir: '/s',
    },
  },
  { type: 'turn.started' },
  { type: 'item.started', item: command },
  {
    type: 'item.completed',
    item: { ...command, aggregated_output: 'one\ntwo\n', exit_code: 1, status: 'failed', duration_ms: 250 },
  },
  {
    type: 'item.completed',
    item: {
      ...command,
      command: `/bin/bash -c 'git push'`,
      status: 'declined',
      verdict: { decision: 'deny', decided_by: 'rules', reason: 'Ask a person.' },
    },
  },
]

/** Everything a sink writes about the story. */
function told(make: (write: (text: string) => void) => Sink): string {
  let text = ''
  const sink = make((piece) => (text += piece))
  for (const event of story) sink.event(event)
  sink.end?.(summary)
  return text
}

test('--json writes one event a line and nothing else', () => {
  const lines = told(jsonlSink).split('\n')
  expect(lines.pop()).toBe('')
  expect(lines.map((line) => JSON.parse(line))).toEqual(story)
})

describe('plain lines', () => {
  const text = told((write) => plainSink(write, false))

  test('show a failed command with the end of its output', () => {
    expect(text).toContain('✗ npm test · exit 1 in 0.3 s\n    one\n    two\n')
  })
  test('show a refusal with its reason', () => {
    expect(text).toContain('✗ refused: git push\n    Ask a person.\n')
  })
  test('close with what changed, what ran, what was refused and what it cost', () => {
    expect(text).toMatch(
      /done · 1\.2 s · exit code 0\n {2}files changed: a\.ts \(update\)\n {2}commands run: 2 \(1 failed\)\n {2}refused: 1\n {4}git push: Ask a person\.\n {2}tokens: 100 in \(50 cached\), 7 out · cost: \$0\.01234\n$/,
    )
  })
  test('hold no escape sequence where colour is off, and some where it is on', () => {
    expect(text).not.toContain('\u001b')
    expect(told((write) => plainSink(write, true))).toContain('\u001b[31m')
  })
})

test('the live view says what runs on a line of its own, and leaves none of it behind', () => {
  const text = told((write) => liveSink({ columns: 80, write }, false))
  expect(text).toContain('⠋ npm test'.slice(2))
  // What is left on the screen: each erased line begins anew after its erase sequence.
  const left = text.replaceAll(/[^\n]*\r\u001b\[2K/g, '')
  expect(left).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/)
  expect(left).toContain('✗ npm test · exit 1')
})

test('the live view never writes past the edge of the terminal', () => {
  const text = told((write) => liveSink({ columns: 20, write }, false))
  const drawn = text.split('\r\u001b[2K').map((piece) => piece.split('\n')[0] ?? '')
  for (const line of drawn.filter((piece) => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(piece))) expect(line.length).toBeLessThan(20)
})
