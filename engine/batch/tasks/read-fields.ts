import { isTable } from '../../core/is-table.ts'
import { nearest } from '../../core/text/nearest.ts'
import { parseLabels, type Labels } from '../labels.ts'
import { TaskFault, type Entry } from './task.ts'

/** The fields of a task, under the names that this program uses. */
export type TaskFields = {
  readonly id: string | undefined
  readonly prompt: string | undefined
  readonly repo: string | undefined
  readonly ref: string | undefined
  readonly image: string | undefined
  readonly labels: Labels | undefined
  /** The values of the variables in the shared prompt. */
  readonly variables: Readonly<Record<string, string>>
  /** Whether the task has SWE-bench's field `instance_id`. If so, a repository of the form `owner/name` is on GitHub. */
  readonly isSweBench: boolean
}

/** This program's name for each field, followed by the names in SWE-bench (https://www.swebench.com) and SWE-agent's `run-batch`. */
const spellings = {
  id: ['id', 'instance_id'],
  prompt: ['prompt', 'problem_statement'],
  repo: ['repo', 'repo_name'],
  ref: ['ref', 'base_commit'],
  image: ['image', 'image_name'],
  labels: ['labels'],
  variables: ['variables', 'extra_fields'],
} as const

/** Fields of SWE-bench's data sets that are meant for its evaluation, such as the solution and the tests. No model may see them. */
const forEvaluation: readonly string[] = [
  'patch',
  'test_patch',
  'hints_text',
  'created_at',
  'version',
  'FAIL_TO_PASS',
  'PASS_TO_PASS',
  'environment_setup_commit',
  'difficulty',
]

const known = Object.values(spellings).flat()

/**
 * Reads the fields of one task, or the fields that all tasks share.
 *
 * @throws TaskFault if the task is neither a table nor a string, or if a field is unknown, is given under two names, or has an unsuitable value
 */
export function readFields({ line, value }: Entry): TaskFields {
  if (typeof value === 'string') return fieldsOf(line, repositoryIn(value))
  if (!isTable(value)) throw new TaskFault(line, 'expected a table of fields, or the path or URL of a repository')
  return fieldsOf(line, value)
}

/** Splits `PLACE` or `PLACE#REF` into the fields `repo` and `ref`. */
function repositoryIn(text: string): Readonly<Record<string, unknown>> {
  const at = text.lastIndexOf('#')
  return at <= 0 ? { repo: text } : { repo: text.slice(0, at), ref: text.slice(at + 1) }
}

function fieldsOf(line: number, table: Readonly<Record<string, unknown>>): TaskFields {
  const isSweBench = table['instance_id'] !== undefined
  for (const name of Object.keys(table)) {
    if ((known as readonly string[]).includes(name) || (isSweBench && forEvaluation.includes(name))) continue
    const near = nearest(name, known)
    const hint = near === undefined ? `The known fields are ${known.join(', ')}.` : `Did you mean '${near}'?`
    throw new TaskFault(line, `'${name}' is not a field of a task. ${hint}`)
  }
  const valueOf = (field: keyof typeof spellings): { readonly name: string; readonly value: unknown } | undefined => {
    const said = spellings[field].filter((name) => table[name] !== undefined && table[name] !== null)
    const [name, other] = said
    if (name === undefined) return undefined
    if (other !== undefined)
      throw new TaskFault(line, `'${name}' and '${other}' are names of the same field: leave one of them out`)
    return { name, value: table[name] }
  }
  const text = (field: keyof typeof spellings): string | undefined => {
    const found = valueOf(field)
    if (found === undefined) return undefined
    if (typeof found.value === 'string' && found.value.trim() !== '') return found.value
    throw new TaskFault(line, `'${found.name}' is not a string, or is empty`)
  }
  return {
    id: text('id'),
    prompt: text('prompt'),
    repo: text('repo'),
    ref: text('ref'),
    image: text('image'),
    labels: labelsOf(line, valueOf('labels')?.value),
    variables: variablesOf(line, valueOf('variables')),
    isSweBench,
  }
}

function labelsOf(line: number, said: unknown): Labels | undefined {
  if (said === undefined) return undefined
  const labels = parseLabels(said)
  if (labels !== undefined) return labels
  throw new TaskFault(line, "'labels' is not a list of names made of letters, digits, '.', '_' and '-'")
}

function variablesOf(
  line: number,
  found: { readonly name: string; readonly value: unknown } | undefined,
): Readonly<Record<string, string>> {
  if (found === undefined) return {}
  const { name, value } = found
  if (!isTable(value)) throw new TaskFault(line, `'${name}' is not a table of strings`)
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean') return [key, String(each)]
      throw new TaskFault(line, `'${name}.${key}' is not a string, a number or a boolean`)
    }),
  )
}
