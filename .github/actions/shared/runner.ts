import { randomBytes } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import process from 'node:process'

/**
 * The workflow commands of the runner: files and lines that it reads
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions). They are implemented here because a package for them would
 * contain more code than this file, and would read and write more than necessary.
 */

/** The error for a problem that the author of the workflow must fix. Its message is a sentence. */
export class ActionError extends Error {
  override readonly name = 'ActionError'
}

/** Returns an input; the empty string if it isn't given. */
export function input(name: string): string {
  return (process.env[`INPUT_${name.toUpperCase()}`] ?? '').trim()
}

/**
 * Returns an input whose absence makes a run check or limit less; the empty string if it is `none`, the default. An empty value, such as that of an unset variable or
 * secret, is no choice.
 *
 * @throws ActionError if it is given and empty
 */
export function chosenInput(name: string): string {
  const value = input(name)
  if (value === '' && process.env[`INPUT_${name.toUpperCase()}`] !== undefined)
    throw new ActionError(`The input '${name}' is empty, as an unset variable or secret is. To have none, give 'none'.`)
  return value === 'none' ? '' : value
}

/** Whether an input is given that may be left out. */
export function isGiven(name: string): boolean {
  return !['', 'none'].includes(input(name))
}

/** Returns a required input. @throws ActionError if it is missing */
export function requiredInput(name: string): string {
  const value = input(name)
  if (value === '') throw new ActionError(`The input '${name}' is missing.`)
  return value
}

/** Returns an input that is a whole number; `unset` if it isn't given. @throws ActionError if it isn't a whole number of at most 9 digits */
export function wholeNumber(name: string, unset: number): number {
  const text = input(name)
  if (text === '') return unset
  if (!/^\d{1,9}$/.test(text))
    throw new ActionError(`The input '${name}' must be a whole number of at most 9 digits, not '${text}'.`)
  return Number(text)
}

/** Whether an input is `true`; false if it isn't given. @throws ActionError for any other value except `false` */
export function isTrue(name: string): boolean {
  const value = process.env[`INPUT_${name.toUpperCase()}`] === undefined ? 'false' : input(name)
  if (value !== 'true' && value !== 'false')
    throw new ActionError(`The input '${name}' must be true or false, but is '${value}'.`)
  return value === 'true'
}

/** Returns the non-empty lines of an input, without blanks around them. */
export function lines(name: string): readonly string[] {
  return input(name)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Returns an environment variable that the runner sets. @throws ActionError if it isn't set */
export function variable(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '')
    throw new ActionError(`${name} is not set: this action can only run as a step of a workflow.`)
  return value
}

/** Returns the event that started the workflow; an empty object if it is unknown. */
export function readEvent(): Readonly<Record<string, unknown>> {
  const path = process.env['GITHUB_EVENT_PATH']
  return path === undefined ? {} : (JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>)
}

/** Sets an output. The author of the value can't guess the delimiter that ends it; a value that nevertheless contains the delimiter is refused. */
export function setOutput(name: string, value: string, delimiter = `end_${randomBytes(16).toString('hex')}`): void {
  if (value.includes(delimiter))
    throw new ActionError(`The output '${name}' contains its own delimiter, so it is not written.`)
  appendFileSync(variable('GITHUB_OUTPUT'), `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
}

/** Adds text to the summary page of the step. */
export function addSummary(markdown: string): void {
  const path = process.env['GITHUB_STEP_SUMMARY']
  if (path !== undefined && path !== '') appendFileSync(path, markdown)
}

/** Prints a command for the runner. The text is escaped, so that untrusted text can't end the command or begin another. */
export function command(name: 'error' | 'warning' | 'notice' | 'add-mask', message: string, title?: string): void {
  const property = title === undefined ? '' : ` title=${escaped(title).replaceAll(':', '%3A').replaceAll(',', '%2C')}`
  process.stdout.write(`::${name}${property}::${escaped(message)}\n`)
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** Stops the runner from interpreting lines of the log as commands until `end` is called. Used for the output of models and commands. */
export function stopCommands(): { readonly end: () => void } {
  const token = randomBytes(16).toString('hex')
  process.stdout.write(`::stop-commands::${token}\n`)
  return { end: () => void process.stdout.write(`\n::${token}::\n`) }
}

/** Formats text literally for a summary or a comment: Markdown, HTML, pictures and links in it have no effect. */
export function asCode(text: string, limit = 60_000): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}\n… (cut)` : text
  const shown = cut
    .toWellFormed()
    .replace(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
      '\ufffd',
    )
  const longest = (shown.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${shown}\n${fence}\n`
}

/** Runs the main function of an action. If it throws an error, the log gets one line about it, and the step fails. */
export async function runAction(main: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main()
  } catch (error) {
    process.exitCode = 1
    command(
      'error',
      error instanceof ActionError ? error.message : `${(error as Error).name}: ${(error as Error).message}`,
    )
  }
}
