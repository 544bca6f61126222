import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ActionError, chosenInput, input, isGiven, lines } from '../shared/runner.ts'

/** Returns an option and its value as arguments; an empty list if the value is empty. */
export function option(name: string, value: string): readonly string[] {
  return value === '' ? [] : [name, value]
}

/**
 * Returns the task of the run, or the focus of a review.
 *
 * @throws ActionError if both `prompt` and `prompt-file` are given, if neither is given and the run isn't a review, or if the file doesn't exist
 */
export function promptOf(workspace: string, isReview: boolean): string {
  const [prompt, file] = [input('prompt'), input('prompt-file')]
  if (isReview && prompt === '' && file === '') return ''
  if ((prompt === '') === (file === ''))
    throw new ActionError("Give either the input 'prompt' or the input 'prompt-file'.")
  if (prompt !== '') return prompt
  const path = resolve(workspace, file)
  if (!existsSync(path)) throw new ActionError(`The input 'prompt-file' names ${path}, which does not exist.`)
  return readFileSync(path, 'utf8')
}

/** Reads the input `args`: arguments for `agent exec`. The input is a JSON array, so that no string has to be split into arguments. */
export function moreArguments(isOfProposal: boolean): readonly string[] {
  const text = input('args') || '[]'
  let words: unknown
  try {
    words = JSON.parse(text)
  } catch {
    words = undefined
  }
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string')) {
    throw new ActionError(`The input 'args' must be a JSON array of strings, such as ["-c", "web_search=live"].`)
  }
  if (isOfProposal && words.some((word) => /^--trust(?:=|$)/.test(word))) {
    throw new ActionError(
      "'--trust' is not accepted for this event: the checkout may contain a proposed change, which would configure the run.",
    )
  }
  return words
}

/** Returns the arguments that state which hosts commands may reach. */
export function allowedHosts(): readonly string[] {
  const hosts = lines('allowed-hosts')
  return hosts.length === 0 ? [] : ['-c', `sandbox_workspace_write.allowed_hosts=${JSON.stringify(hosts)}`]
}

/** Returns the arguments that pass the output schema, which is either a file in the repository or JSON in the workflow itself. */
export function outputSchema(workspace: string, bundle: string): readonly string[] {
  const text = chosenInput('output-schema')
  if (text === '') return []
  if (!text.startsWith('{')) return ['--output-schema', resolve(workspace, text)]
  const file = join(bundle, 'schema.json')
  writeFileSync(file, text)
  return ['--output-schema', file]
}

/**
 * Returns the arguments of `agent` for a task: what commands may access, and which conditions the result must meet.
 *
 * @throws ActionError if an input is given that only a review can have
 */
export function taskArguments(workspace: string, bundle: string, sandbox: string): readonly string[] {
  const misfit = ['review-base', 'fail-on'].find(isGiven)
  if (misfit !== undefined)
    throw new ActionError(`The input '${misfit}' only works with a review: set 'review' to true.`)
  return [...['exec', '-s', sandbox], ...option('--verify', chosenInput('verify')), ...outputSchema(workspace, bundle)]
}

/**
 * Returns the arguments of `agent` for a review of a pull request's changes, or of the checkout's changes since a branch.
 *
 * @param event the event that started the workflow
 * @throws ActionError if the base of the review is unknown, or if an input is given that only a task can have
 */
export function reviewArguments(event: Readonly<Record<string, unknown>>): readonly string[] {
  const misfit = ['verify', 'output-schema', 'allowed-hosts', 'evidence-key'].find(isGiven)
  if (misfit !== undefined) throw new ActionError(`The input '${misfit}' can't be used with a review.`)
  const base = input('review-base') || baseOf(event)
  if (base === undefined)
    throw new ActionError(
      "This workflow was not started by a pull request, so the input 'review-base' must name the base of the review.",
    )
  return ['exec', 'review', '--base', base, ...option('--fail-on', chosenInput('fail-on'))]
}

function baseOf({ pull_request: pull }: Readonly<Record<string, unknown>>): string | undefined {
  const { base } = (pull ?? {}) as { readonly base?: { readonly sha?: unknown } }
  return typeof base?.sha === 'string' && /^[0-9a-f]{40,64}$/.test(base.sha) ? base.sha : undefined
}
