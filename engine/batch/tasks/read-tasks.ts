import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import { readHostFile } from '../../../sandbox/index.ts'
import { UserError } from '../../core/user-error.ts'
import { fillPrompt } from './fill-prompt.ts'
import { parseEntries } from './parse-entries.ts'
import { readFields, type TaskFields } from './read-fields.ts'
import { TaskFault, type Entry, type Repository, type Task } from './task.ts'

const largestFile = 512 * 1024 * 1024
const mostFaults = 20

/**
 * Reads a task file.
 *
 * @param file the path of a JSON lines, JSON, YAML or CSV file
 * @param here the repository for tasks that name none; undefined if there is no such repository
 * @throws UserError `usage` if the file can't be read; otherwise with `file:line` for each problem (at most twenty), such as an unknown field, a
 * repeated id or a missing field
 */
export async function readTasks(file: string, here: string | undefined): Promise<readonly Task[]> {
  const path = resolve(file)
  const text = readHostFile(path, { follow: true, maxBytes: largestFile })
    ?.toString()
    .replace(/^\ufeff/, '')
  if (text === undefined) throw new UserError('usage', `${path}: the tasks can't be read, or this is not a file.`)
  const faults: TaskFault[] = []
  const tasks: Task[] = []
  try {
    const { shared, entries } = await parseEntries(path, text)
    const common = shared === undefined ? undefined : readFields(shared)
    const lines = new Map<string, number>()
    for (const entry of entries) {
      try {
        const task = taskOf(entry, common, { folder: dirname(path), here })
        const first = lines.get(task.id)
        if (first !== undefined) throw new TaskFault(entry.line, `the id '${task.id}' is already used on line ${first}`)
        lines.set(task.id, entry.line)
        tasks.push(task)
      } catch (error) {
        if (!(error instanceof TaskFault)) throw error
        faults.push(error)
      }
    }
    if (entries.length === 0) throw new TaskFault(1, 'the file contains no tasks')
  } catch (error) {
    if (!(error instanceof TaskFault)) throw error
    faults.push(error)
  }
  if (faults.length === 0) return tasks
  const told = faults.slice(0, mostFaults).map(({ line, message }) => `${path}:${line}: ${message}`)
  const more = faults.length > mostFaults ? [`… and ${faults.length - mostFaults} more`] : []
  throw new UserError('usage', [...told, ...more].join('\n'))
}

type Places = {
  /** The folder against which relative paths of repositories are resolved. */
  readonly folder: string
  readonly here: string | undefined
}

function taskOf(entry: Entry, common: TaskFields | undefined, places: Places): Task {
  const own = readFields(entry)
  const { line } = entry
  const source = repositoryOf(own, common, places, line)
  const id = own.id ?? (own.repo === undefined ? undefined : nameOf(source))
  if (id === undefined) throw new TaskFault(line, "the task has no 'id', which identifies its result")
  const ref = own.ref ?? common?.ref
  return {
    id,
    prompt: promptOf(own, common, { id, repo: own.repo ?? common?.repo ?? source, ref }, line),
    repository: { source, ref },
    image: own.image ?? common?.image,
    labels: own.labels ?? common?.labels ?? [],
  }
}

function promptOf(
  own: TaskFields,
  common: TaskFields | undefined,
  of: Readonly<Record<string, string | undefined>>,
  line: number,
): string {
  // Only a prompt that all tasks share is a template. A task's own prompt is used unchanged, because it may contain `{{ }}` as part of some code.
  if (common?.prompt === undefined) {
    if (own.prompt !== undefined) return own.prompt
    throw new TaskFault(line, "the task has no 'prompt', and there is no prompt for all tasks")
  }
  const filled = fillPrompt(common.prompt, { ...of, prompt: own.prompt, ...common.variables, ...own.variables })
  if ('prompt' in filled) return filled.prompt
  throw new TaskFault(line, `the prompt uses {{${filled.unknown}}}, which is not a variable of this task`)
}

function repositoryOf(
  own: TaskFields,
  common: TaskFields | undefined,
  { folder, here }: Places,
  line: number,
): Repository['source'] {
  const said = own.repo ?? common?.repo
  if (said === undefined) {
    if (here !== undefined) return here
    throw new TaskFault(line, "the task has no 'repo', and the batch was not started in a git repository")
  }
  if (said.startsWith('-')) throw new TaskFault(line, `'${said}' is no repository`)
  if (isUrl(said)) return said
  const path = isAbsolute(said) ? said : resolve(folder, said)
  if (existsSync(path)) return path
  if (own.isSweBench && /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(said)) return `https://github.com/${said}.git`
  throw new TaskFault(line, `there is no repository ${path}, and '${said}' is not a git URL`)
}

/** Whether a text is a URL for git: with a scheme, or as `user@host:path` for ssh. */
function isUrl(text: string): boolean {
  return /^(?:https?|ssh|git|file):\/\//.test(text) || /^[\w.-]{1,64}@[\w.-]{1,255}:[^/]/.test(text)
}

function nameOf(source: string): string {
  return basename(source.split(':').at(-1) ?? source).replace(/\.git$/, '')
}
