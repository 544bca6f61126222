import { extname } from 'node:path'
import { isTable } from '../../core/is-table.ts'
import { locateInJson, positionAt } from '../../core/locate-json.ts'
import { parseCsv } from './parse-csv.ts'
import { TaskFault, type Entry, type TaskFile } from './task.ts'

/** The keys under which a document may contain its list of tasks. */
const listKeys = ['tasks', 'repositories'] as const

/**
 * Reads the tasks from the text of a file. The file's extension determines the format: JSON lines, JSON, YAML or CSV. A JSON or YAML document is either a list,
 * or an object that contains the list under `tasks` or `repositories`. Such an object may also contain values that apply to all tasks.
 *
 * @throws TaskFault with the line number, if the text has none of these forms
 */
export async function parseEntries(file: string, text: string): Promise<TaskFile> {
  switch (extname(file).toLowerCase()) {
    case '.jsonl':
    case '.ndjson':
      return { shared: undefined, entries: parseLines(text) }
    case '.csv':
      return { shared: undefined, entries: parseCsv(text) }
    case '.json':
      return parseJson(text)
    case '.yaml':
    case '.yml':
      return parseYamlDocument(text)
    default:
      throw new TaskFault(
        1,
        "the format is not clear from the file's name, which must end in .jsonl, .ndjson, .json, .yaml, .yml or .csv",
      )
  }
}

function parseLines(text: string): readonly Entry[] {
  return text.split('\n').flatMap((written, at) => {
    if (written.trim() === '') return []
    try {
      return [{ line: at + 1, value: JSON.parse(written) as unknown }]
    } catch (error) {
      throw new TaskFault(at + 1, `not valid JSON: ${(error as Error).message}`)
    }
  })
}

function parseJson(text: string): TaskFile {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const { message } = error as Error
    const offset = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
    throw new TaskFault(positionAt(text, offset).line, `not valid JSON: ${message}`)
  }
  return fromDocument(value, (path) => locateInJson(text, path).line)
}

async function parseYamlDocument(text: string): Promise<TaskFile> {
  const { parseYamlWithLines } = await import('../../skills/parse-yaml.ts')
  const parsed = parseYamlWithLines(text)
  if ('problem' in parsed) throw new TaskFault(parsed.line, parsed.problem)
  return fromDocument(parsed.value, parsed.lineOf)
}

function fromDocument(value: unknown, lineOf: (path: readonly PropertyKey[]) => number): TaskFile {
  if (Array.isArray(value)) return { shared: undefined, entries: entriesOf(value, [], lineOf) }
  if (!isTable(value))
    throw new TaskFault(1, "expected a list of tasks, or an object with such a list under 'tasks' or 'repositories'")
  const keys = listKeys.filter((key) => value[key] !== undefined)
  const [key, other] = keys
  if (key === undefined)
    throw new TaskFault(1, "the file contains no list of tasks: expected a list under 'tasks' or 'repositories'")
  if (other !== undefined)
    throw new TaskFault(lineOf([other]), "the file has both 'tasks' and 'repositories': put all tasks into one list")
  const list = value[key]
  if (!Array.isArray(list)) throw new TaskFault(lineOf([key]), `'${key}' is not a list`)
  const { [key]: _, ...shared } = value
  return { shared: { line: 1, value: shared }, entries: entriesOf(list, [key], lineOf) }
}

function entriesOf(
  list: readonly unknown[],
  below: readonly PropertyKey[],
  lineOf: (path: readonly PropertyKey[]) => number,
): readonly Entry[] {
  return list.map((value, at) => ({ line: lineOf([...below, at]), value }))
}
