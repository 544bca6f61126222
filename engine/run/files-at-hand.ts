import { analyseScript } from '../../policies/index.ts'
import type { HistoryItem, ToolCall } from '../core/model.ts'
import { shellJoin } from '../core/text/shell-join.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import { renderSteps } from '../tools/checklist.ts'
import { asSteps } from '../tools/todo.ts'
import { todoIn } from '../tools/todo-list.ts'

/** What the user has asked for, and what the run has done so far: the files that it changed and read, and its commands. */
type Snapshot = {
  readonly goals: string[]
  readonly changed: Set<string>
  readonly read: Set<string>
  readonly commands: string[]
}

const maxGoalCharacters = 8000
const maxFiles = 100
const maxCommands = 40
const maxCommandCharacters = 160

/**
 * Describes what must survive compaction: requests, changed and read files, commands and their outcomes, and the task list. Except for the sections
 * in `now`, all of this is taken from the history, and not from the model's memory.
 *
 * @param history the whole history, from its beginning
 * @param now sections about the current state. Default: none
 */
export function describeSnapshot(history: readonly HistoryItem[], now: readonly string[] = []): string {
  const snapshot = takeSnapshot(history)
  const todo = todoIn(history)
  return [
    section('Asked for', snapshot.goals),
    section('Files changed', [...snapshot.changed].slice(-maxFiles)),
    section('Files read', [...snapshot.read].slice(-maxFiles)),
    section('The last commands, and how they ended', snapshot.commands.slice(-maxCommands)),
    ...now,
    ...(todo.length === 0 ? [] : [`## Tasks\n${renderSteps(asSteps(todo))}`]),
  ].join('\n\n')
}

function section(title: string, lines: readonly string[]): string {
  return `## ${title}\n${lines.length === 0 ? 'none' : lines.map((line) => `- ${line}`).join('\n')}`
}

/**
 * The files that the run's calls used, according to the paths in these calls. Changed files come before files that were only read; in both groups,
 * the most recently used come first.
 */
export function filesAtHand(history: readonly HistoryItem[]): readonly string[] {
  const { changed, read } = takeSnapshot(history)
  return [...new Set([...[...changed].toReversed(), ...[...read].toReversed()])]
}

function takeSnapshot(history: readonly HistoryItem[]): Snapshot {
  const snapshot: Snapshot = { goals: [], changed: new Set(), read: new Set(), commands: [] }
  const calls = new Map<string, ToolCall>()
  for (const item of history) {
    if (item.type === 'message' && item.role === 'user') {
      snapshot.goals.push(truncateMiddle(item.text, maxGoalCharacters).text)
    }
    if (item.type === 'tool_call') calls.set(item.call.id, item.call)
    if (item.type !== 'tool_result') continue
    const call = calls.get(item.callId)
    if (call !== undefined) addCall(call, item, snapshot)
  }
  return snapshot
}

function addCall(call: ToolCall, result: Extract<HistoryItem, { type: 'tool_result' }>, snapshot: Snapshot): void {
  const [first = ''] = result.output.split('\n')
  if (result.ok && first.startsWith('Success. Updated the following files:')) {
    for (const [, path = ''] of result.output.matchAll(/^[AMD] (.+)$/gm)) again(snapshot.changed, path)
    return
  }
  const input = inputOf(call)
  const script = scriptOf(input)
  if (script !== undefined) {
    const flat = script
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join(' ⏎ ')
    const shown = flat.length > maxCommandCharacters ? `${flat.slice(0, maxCommandCharacters)}…` : flat
    snapshot.commands.push(`\`${shown}\`: ${first}`)
    for (const path of filesReadBy(script)) again(snapshot.read, path)
    return
  }
  const path = input['path'] ?? input['file_path']
  if (result.ok && typeof path === 'string') again(edits.has(call.name) ? snapshot.changed : snapshot.read, path)
}

/** Tools that change only the one file that their arguments name. */
const edits: ReadonlySet<string> = new Set(['edit_file', 'edit_notebook', 'write_file'])

/** Adds a file to the end of a set. If the set already contains the file, moves it to the end. */
function again(paths: Set<string>, path: string): void {
  paths.delete(path)
  paths.add(path)
}

function inputOf(call: ToolCall): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(call.input)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    // The input isn't JSON: it is a patch, or the model made a mistake. So there are no arguments that could name a file or a command.
    return {}
  }
}

function scriptOf(input: Readonly<Record<string, unknown>>): string | undefined {
  const { cmd, command } = input
  if (typeof cmd === 'string') return cmd
  if (typeof command === 'string') return command
  return Array.isArray(command) ? shellJoin(command.map(String)) : undefined
}

function filesReadBy(script: string): readonly string[] {
  return analyseScript(script).commands.flatMap(({ reads }) =>
    reads.flatMap((word) => (word.kind === 'static' ? [word.text] : [])),
  )
}
