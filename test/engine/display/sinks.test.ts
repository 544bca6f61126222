import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { jsonlSink } from '../../../engine/display/jsonl.ts'
import { liveSink } from '../../../engine/display/live.ts'
import { plainSink } from '../../../engine/display/plain.ts'
import { fit } from '../../../engine/display/fit.ts'
import type { FormatterOptions } from '../../../engine/display/formatter.ts'
import type { RunEvent, RunSummary, Sink } from '../../../engine/core/events.ts'

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
    thread_id: '0199-t',
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

const plain: FormatterOptions = { colour: false, detail: 'normal' }

/** Returns everything that a sink writes about a sequence of events. */
function told(
  make: (write: (text: string) => void) => Sink,
  events: readonly RunEvent[] = story,
  ending: RunSummary = summary,
): string {
  let text = ''
  const sink = make((piece) => (text += piece))
  for (const event of events) sink.event(event)
  sink.end?.(ending)
  return text
}

test('--json writes one event per line and nothing else', () => {
  const lines = told(jsonlSink).split('\n')
  expect(lines.pop()).toBe('')
  expect(lines.map((line) => JSON.parse(line))).toEqual(story)
})

describe('plain lines', () => {
  const text = told((write) => plainSink(write, plain))

  test('show a failed command with the end of its output', () => {
    expect(text).toContain('✗ npm test · exit 1 in 0.3 s\n    one\n    two\n')
  })
  test('show a refusal with its reason', () => {
    expect(text).toContain('✗ refused: git push\n    Ask a person.\n')
  })
  test('end with changes, commands, refusals and costs', () => {
    expect(text).toMatch(
      /done · 1\.2 s · exit code 0\n {2}files changed: a\.ts \(update\)\n {2}refused: 1\n {4}git push: Ask a person\.\n {2}tokens: 100 in \(50 cached\), 7 out · cost: \$0\.01234\n {2}session: 0199-t · to continue: agent exec resume 0199-t\n$/,
    )
  })
  test('end with at most six lines when nothing is wrong, and with everything if that is wanted', () => {
    const verify = { command: 'npm test', passed: true, exit_code: 0, duration_ms: 900, attempts: 1 }
    const record = {
      tests: [],
      verified: [],
      commits: [],
      pushed: [],
      files: { created: [], changed: [], deleted: [], tests: [] },
      refused: [],
    }
    const facts = {
      ...{ withheld: { variables: 33, secrets: 2 }, unenforced: ['memory is limited for each process'] },
      ...{ auditHead: `0:${'0'.repeat(64)}`, denied: [], verified: [verify], record },
    }
    const ending = { ...summary, ...facts } as RunSummary
    const lines = (detail: 'normal' | 'verbose'): readonly string[] => {
      const all = told((write) => plainSink(write, { ...plain, detail }), story, ending)
        .trimEnd()
        .split('\n')
      return all.slice(all.findIndex((line) => line.startsWith('done · ')))
    }
    expect(lines('normal')).toEqual([
      'done · 1.2 s · exit code 0',
      '  files changed: a.ts (update)',
      '  verify: npm test: passed',
      '  tokens: 100 in (50 cached), 7 out · cost: $0.01234 · refused: nothing',
      '  session: 0199-t · to continue: agent exec resume 0199-t',
    ])
    const verbose = lines('verbose').join('\n')
    for (const words of [
      'commands run: 2',
      'pushed: nothing',
      'variables withheld',
      'not enforced here',
      'audit head: 0:',
    ])
      expect(verbose).toContain(words)
  })
  test('show the line of a long output that says why a command failed', () => {
    const after = Array.from({ length: 20 }, (_, at) => `    at frame ${at}`)
    const output = ['setup', '', 'AssertionError [ERR_ASSERTION]: -1 == 3', '', ...after, 'Node.js v26.10.0'].join('\n')
    const item = { ...command, status: 'failed' as const, exit_code: 1, aggregated_output: output }
    const shown = told((write) => plainSink(write, plain), [{ type: 'item.completed', item }])
    expect(shown).toContain('    … 2 lines …\n    AssertionError [ERR_ASSERTION]: -1 == 3\n')
    expect(shown).toContain('    Node.js v26.10.0\n')
  })
  test.each([
    ['AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n-1 !== 3\n'],
    ['not ok 1 - adds\n  ---\n  error: |-\n    Expected values to be strictly equal:\n\n    -1 !== 3\n'],
    ["not ok 1 - adds\n  ---\n  error: 'Expected values to be strictly equal: -1 !== 3'\n"],
  ])('show the values that an assertion compares: %j', (output) => {
    const long = `TAP version 13\n${output}${'  frame\n'.repeat(30)}`
    const item = { ...command, status: 'failed' as const, exit_code: 1, aggregated_output: long }
    const shown = told((write) => plainSink(write, plain), [{ type: 'item.completed', item }])
    expect(shown).toMatch(/Expected values to be strictly equal:\s+-1 !== 3/)
  })
  test('contain escape sequences only if colour is on', () => {
    expect(text).not.toContain('\u001b')
    expect(told((write) => plainSink(write, { ...plain, colour: true }))).toContain('\u001b[31m')
  })
})

test('in plain lines, a command is announced when it starts', () => {
  let text = ''
  const sink = plainSink((piece) => (text += piece), plain)
  sink.event({ type: 'item.started', item: { ...command, command: `/bin/bash -c 'npm run all\u001b[2J'` } })
  expect(text).toBe('$ npm run all\n')
  sink.end?.(summary)
})

describe('a command that takes long', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const lines = (
    detail: FormatterOptions['detail'],
    until: (minutes: (count: number) => void, sink: Sink) => void,
  ): string => {
    let text = ''
    const sink = plainSink((piece) => (text += piece), { ...plain, detail })
    sink.event({ type: 'item.started', item: command })
    text = ''
    until((count) => void vi.advanceTimersByTime(count * 60_000), sink)
    return text
  }

  test('is reported as still running from time to time, with the last line that it printed', () => {
    const text = lines('normal', (minutes, sink) => {
      minutes(1)
      sink.tail?.('item_0', () => 'cut off line\nok 1\nok \u001b[2J2\n\n')
      minutes(11)
    })
    expect(text).toBe(
      [
        '… still running (1 min): npm test',
        '… still running (2 min): npm test\n    ok 2',
        '… still running (5 min): npm test\n    ok 2',
        '… still running (10 min): npm test\n    ok 2\n',
      ].join('\n'),
    )
  })
  test('is no longer reported once it or the run has ended', () => {
    expect(
      lines('normal', (minutes, sink) => {
        sink.event({ type: 'item.completed', item: { ...command, status: 'completed', exit_code: 0 } })
        minutes(30)
      }),
    ).not.toContain('still running')
    expect(
      lines('normal', (minutes, sink) => {
        sink.end?.(summary)
        minutes(30)
      }),
    ).not.toContain('still running')
  })
  test('is silent with --quiet', () => {
    expect(lines('quiet', (minutes) => minutes(30))).toBe('')
  })
})

describe('the command that resumes a session', () => {
  const first = story[0] as Extract<RunEvent, { type: 'thread.started' }>
  const started = (fields: object): readonly RunEvent[] => [{ ...first, config: { ...first.config, ...fields } }]
  const failing: RunSummary = { ...summary, exitCode: 130, reason: 'interrupted', error: 'Interrupted.' }

  test('is shown at the end of every run, in plain lines and in the live view', () => {
    for (const make of [plainSink, (write: (text: string) => void) => liveSink({ columns: 80, write }, plain)]) {
      for (const ending of [summary, failing]) {
        expect(told((write) => make(write, plain), story, ending)).toMatch(
          /\n {2}session: 0199-t · to continue: agent exec resume 0199-t\n$/,
        )
      }
    }
  })
  test('names the directory if the program was started in a different one', () => {
    const text = told((write) => plainSink(write, { ...plain, cwd: '/elsewhere' }), started({ cwd: '/w/it is' }))
    expect(text).toContain(`agent exec resume 0199-t -C '/w/it is'\n`)
    expect(told((write) => plainSink(write, { ...plain, cwd: '/w' }))).not.toContain(' -C ')
  })
  test('is not shown for an ephemeral run', () => {
    expect(told((write) => plainSink(write, plain), started({ ephemeral: true }))).not.toContain('resume')
  })
})

test('the live view shows the last lines of the running command, and the total time of the run', () => {
  let text = ''
  const sink = liveSink({ columns: 60, write: (piece) => (text += piece) }, plain)
  sink.event({ type: 'item.started', item: command })
  sink.tail?.('item_0', () => `cut\none\ntwo\n${'x'.repeat(100)}\nfour\u001b[2J\n`)
  text = ''
  sink.event({ type: 'turn.started' })
  const screen = screenOf(text)
  expect(screen.slice(0, 3)).toEqual(['  two', `  ${'x'.repeat(56)}…`, '  four'])
  expect(screen[3]).toMatch(/^⠹? ?.*npm test \d\.\d s · \d\.\d s in all$/)

  // The command's output disappears from the screen as soon as the command has ended.
  sink.event({ type: 'item.completed', item: { ...command, status: 'completed', exit_code: 0 } })
  expect(screenOf(text)).toEqual(['✓ npm test · exit 0', expect.stringContaining('the model is thinking')])
  sink.end?.(summary)
  expect(screenOf(text)[0]).toBe('✓ npm test · exit 0')
  expect(screenOf(text)[1]).toMatch(/^done · /)
})

/** Returns what a terminal shows after receiving a text. Supports only the control sequences that the displays in this file use. */
function screenOf(text: string): readonly string[] {
  const rows = ['']
  let row = 0
  for (const [piece] of text.matchAll(/\u001b\[2K|\u001b\[1A|\r|\n|[^\u001b\r\n]+/g)) {
    if (piece === '\u001b[2K') rows[row] = ''
    else if (piece === '\u001b[1A') row = Math.max(0, row - 1)
    else if (piece === '\n') rows[++row] ??= ''
    else if (piece !== '\r') rows[row] += piece
  }
  return rows.filter((line) => line !== '')
}

test('the live view shows the current activity on a line of its own, and erases it at the end', () => {
  const text = told((write) => liveSink({ columns: 80, write }, plain))
  expect(text).toContain('⠋ npm test'.slice(2))
  // Removes what was erased from the screen: each line up to its erase sequence.
  const left = text.replaceAll(/[^\n]*\r\u001b\[2K/g, '')
  expect(left).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/)
  expect(left).toContain('✗ npm test · exit 1')
})

test('the live view never writes past the edge of the terminal', () => {
  const text = told((write) => liveSink({ columns: 20, write }, plain))
  const drawn = text.split('\r\u001b[2K').map((piece) => piece.split('\n')[0] ?? '')
  for (const line of drawn.filter((piece) => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(piece))) expect(line.length).toBeLessThan(20)
})

const change = (diff: string): RunEvent => ({
  type: 'item.completed',
  item: {
    id: 'item_1',
    type: 'file_change',
    changes: [{ path: '/w/a.ts', kind: 'update' }],
    status: 'completed',
    call_id: 'call_2',
    duration_ms: 4,
    diff,
  },
})

describe('a change', () => {
  const diff = 'diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n same\n-old\n--- old\n+new\n'

  test('is shown as a coloured diff, with its header distinct from its lines', () => {
    const text = told((write) => plainSink(write, { colour: true, detail: 'normal' }), [change(diff)])
    expect(text).toContain('\u001b[31m-old\u001b[39m')
    expect(text).toContain('\u001b[32m+new\u001b[39m')
    expect(text).toContain('\u001b[1m--- a/a.ts\u001b[22m')
    expect(text).toContain('\u001b[31m--- old\u001b[39m')
  })

  test('that is long has its middle left out, except in verbose output', () => {
    const long = Array.from({ length: 200 }, (_, index) => `+line ${index}`).join('\n')
    const text = told((write) => plainSink(write, plain), [change(`@@ -0,0 +1,200 @@\n${long}`)])
    expect(text).toContain('    +line 38\n    … 121 more lines …\n    +line 160\n')
    expect(told((write) => plainSink(write, { ...plain, detail: 'verbose' }), [change(`@@\n${long}`)])).toContain(
      '+line 100',
    )
  })
})

test('the summary lists what the model claimed and the record contradicts, and says that nothing changed', () => {
  const ending: RunSummary = {
    ...{ ...summary, filesChanged: [], result: 'no-change' },
    contradictions: [{ about: 'tests', claimed: 'npm test\u001b[2J passed', record: 'it failed' }],
  }
  const text = told((write) => plainSink(write, plain), story, ending)
  expect(text).toContain('done, nothing changed · 1.2 s · exit code 0\n')
  expect(text).toContain('  contradicted by the record: npm test passed: it failed\n')
})

const budgetEnd: RunSummary = { ...summary, exitCode: 4, reason: 'budget', error: 'The budget is used up.' }
const usage = summary.usage
const budgetStory: readonly RunEvent[] = [
  ...story,
  { type: 'error', message: 'The budget is used up.' },
  {
    type: 'turn.failed',
    result: 'budget',
    error: { message: 'The budget is used up.' },
    reason: 'budget',
    exit_code: 4,
    usage,
    total_usage: usage,
    duration_ms: 1,
    denied: 1,
  },
]

test('the reason for a failure is given once, in words', () => {
  for (const make of [plainSink, (write: (text: string) => void) => liveSink({ columns: 80, write }, plain)]) {
    const text = told((write) => make(write, plain), budgetStory, budgetEnd)
    expect(text.split('The budget is used up.')).toHaveLength(2)
    expect(text).toContain('budget used up · 1.2 s · exit code 4')
  }
  const guardian = told((write) => plainSink(write, plain), story, { ...budgetEnd, reason: 'stoppedByGuardian' })
  expect(guardian).toContain('stopped by the Guardian: The budget')
})

describe('--quiet', () => {
  const quiet: FormatterOptions = { colour: false, detail: 'quiet' }

  test('says nothing about a successful run', () => {
    expect(told((write) => plainSink(write, quiet))).toBe('')
  })
  test('says why a run failed, and what was refused', () => {
    const text = told((write) => plainSink(write, quiet), budgetStory, budgetEnd)
    expect(text).toMatch(/^budget used up: The budget is used up\. · /)
    expect(text).toContain('git push: Ask a person.')
  })
})

test('--verbose shows the whole output of every command', () => {
  const output = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n')
  const done: RunEvent = {
    type: 'item.completed',
    item: { ...command, aggregated_output: output, exit_code: 0, status: 'completed', duration_ms: 5 },
  }
  expect(told((write) => plainSink(write, { ...plain, detail: 'verbose' }), [done])).toContain('line 0\n    line 1\n')
  expect(told((write) => plainSink(write, plain), [done])).not.toContain('line')
})

test('text from a model can’t control the terminal', () => {
  const evil = '\u001b]52;c;ZXZpbA==\u0007\u001b[2Jhello\u009b1A'
  const events: readonly RunEvent[] = [
    { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: evil } },
    { type: 'error', message: evil },
    { type: 'item.completed', item: { ...command, command: evil, exit_code: 0, status: 'completed' } },
  ]
  const ending: RunSummary = { ...summary, error: evil, denied: [{ what: evil, reason: evil }] }
  const text = told((write) => plainSink(write, plain), events, ending)
  expect(text).toContain('hello')
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
})

describe('the line at the bottom', () => {
  /** Returns what is drawn on the bottom line, one drawing after the other. */
  const drawn = (play: (sink: Sink) => void): readonly string[] => {
    let text = ''
    const sink = liveSink({ columns: 200, write: (piece) => (text += piece) }, plain)
    play(sink)
    sink.end?.(summary)
    return text.split('\r\u001b[2K').filter((line) => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(line))
  }

  test('shows what the run has used so far, and its limits', () => {
    const lines = drawn((sink) => {
      sink.spent?.({ turns: 3, tokens: 12_345, costUsd: 0.0421, of: { maxTurns: 10, maxCost: 1 } })
      sink.event({ type: 'item.started', item: command })
    })
    expect(lines.at(-1)).toMatch(
      /npm test 0\.0 s · 3 of 10 turns · 12\.3k tokens · \$0\.0421 of \$1\.00 · 0\.0 s in all$/,
    )
  })

  test('shortens a long command rather than the figures', () => {
    let text = ''
    const sink = liveSink({ columns: 60, write: (piece) => (text += piece) }, plain)
    sink.spent?.({ turns: 1, tokens: 900, costUsd: undefined, of: {} })
    sink.event({ type: 'item.started', item: { ...command, command: 'x'.repeat(100) } })
    sink.end?.(summary)
    expect(text).toMatch(/x… 0\.0 s · 1 turn · 900 tokens · 0\.0 s in all\r/)
  })

  test('counts the activities beside the first', () => {
    const lines = drawn((sink) => {
      sink.event({ type: 'item.started', item: command })
      sink.event({ type: 'item.started', item: { ...command, id: 'item_1', command: 'ls' } })
      sink.event({ type: 'item.completed', item: { ...command, exit_code: 0, status: 'completed' } })
    })
    expect(lines.map((line) => line.slice(2).replace(/ \d.*/, ''))).toEqual(['npm test', 'npm test and', 'ls'])
  })
})

test.each([
  ['short', 10, 'short'],
  ['exactly te', 10, 'exactly te'],
  ['rather long', 10, 'rather lo…'],
  ['漢字漢字漢字', 10, '漢字漢字…'],
  ['👩‍👩‍👧 family', 8, '👩‍👩‍👧 fami…'],
])('%j fits %i columns as %j', (text, columns, expected) => {
  expect(fit(text, columns)).toBe(expected)
})
