import { expect, test } from 'vitest'
import { code, sources } from './sources.ts'

/** Matches all ways to write to the standard streams. */
const writes =
  /\bprocess\s*(?:\.|\[\s*')(?:stdout|stderr)\b|\{[^{}]*\b(?:stdout|stderr)\b[^{}]*\}\s*=\s*process\b|\bconsole\.[a-z]+\(|\bwriteSync\((?:1|2)\b|\bfrom 'node:console'/g

/** The writer of each program, and the programs of ours that run in the sandbox, whose output is read by us. */
const writers = [
  /^engine\/cli\/print\.ts$/,
  /^apply-patch\/cli\/input\.ts$/,
  /^engine\/tools\/(?:repl\/session-program|web\/fetch-program|files\/helper-program)\.ts$/,
  /^sandbox\/network\/inside\.ts$/,
]

test('text reaches the standard streams only through the writer, which makes it harmless', () => {
  const others = ['engine', 'apply-patch', 'sandbox', 'policies']
    .flatMap(sources)
    .filter((file) => !writers.some((writer) => writer.test(file)))
    .flatMap((file) => [...code(file).matchAll(writes)].map(([found]) => `${file}: ${found}`))
  expect(others).toEqual([])
})

/** Why a file of the command line needs the streams themselves. */
const raw: Readonly<Record<string, string>> = {
  'engine/cli/batch-control.ts': 'clears the screen',
  'engine/cli/batch-run.ts': 'a view that is redrawn',
  'engine/cli/changes-command.ts': 'a patch for another program',
  'engine/cli/choose-sinks.ts': 'a view that is redrawn',
  'engine/cli/mcp-server-command.ts': 'the protocol, and the lines of a sink',
  'engine/cli/own-terminal.ts': 'questions to the person at the terminal',
  'engine/cli/report-command.ts': 'annotations, which are commands for the CI',
  'engine/cli/report-startup-failure.ts': 'waits until everything is written',
  'engine/cli/sandbox-command.ts': 'the output of the command',
  'engine/cli/served-run.ts': 'the lines of a sink',
  'engine/cli/with-error-reporting.ts': 'errors of writing',
}

test('the streams themselves are used only where bytes must arrive as they are', () => {
  const using = sources('engine/cli').filter((file) => /\brawOutput\b/.test(code(file)) && !file.endsWith('/print.ts'))
  expect(using).toEqual(Object.keys(raw))
})

test('apply-patch writes to its descriptors only through its writer', () => {
  const others = sources('apply-patch').filter((file) => /\bwrite\([12],/.test(code(file)))
  expect(others).toEqual(['apply-patch/cli/print.ts'])
})
