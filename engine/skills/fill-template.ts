import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fillArguments, typedWords } from './fill-arguments.ts'

/** A tool call that the text of a definition requests: a command to run, or a file or directory to read. */
export type Looked = {
  /** The request as written in the text. */
  readonly as: string
  readonly tool: 'exec_command' | 'read_file' | 'list_dir'
  readonly input: Readonly<Record<string, string>>
}

/** The maximum number of commands and files that one text may request. */
const mostLooked = 20

/** A word whose characters have no special meaning in a shell, whether it is quoted or not. It can't begin with `-`, so it is never an option. */
const plainWord = /^[\w./:@=+,%][\w./:@=+,%-]*$/

/**
 * Inserts the arguments into the text of a command or skill, and collects the calls that the text requests with !`command` and @file. Arguments can't
 * add requests, and each argument stays a single word of its command, because somebody other than the user may have written the arguments.
 *
 * @returns the text, which mentions the calls, and the calls themselves; or why the text can't be filled in
 */
export function fillTemplate(
  body: string,
  typed: string,
  workspace: string,
): { readonly prompt: string; readonly looked: readonly Looked[] } | { readonly problem: string } {
  const looked: Looked[] = []
  const shown: string[] = []
  const words = typedWords(typed)
  let problem: string | undefined
  const keep = (text: string): string => `\0${shown.push(text) - 1}\0`
  const put = (whole: string, script: string | undefined, file: string | undefined, before: string): string => {
    // An `@` after a letter, a digit, an underscore or a backtick is part of an email address or of a name in code.
    if (file !== undefined && /[\w`]/.test(before)) return whole
    const text = script ?? file ?? ''
    const odd = namesArgument(text) ? words.find((word) => !plainWord.test(word)) : undefined
    if (odd !== undefined && script !== undefined) {
      problem ??= `'${odd}' can't be put into the command !\`${script}\`: an argument in a command may contain only letters, digits and . / : @ = + , % _ -`
      return whole
    }
    const filled = namesArgument(text) ? fillArguments(text, words.join(' ')) : text
    const one = script === undefined ? lookAt(filled, workspace) : runOf(filled)
    if (one === undefined) return whole
    looked.push(one)
    return keep(script === undefined ? `${filled} (its content is below)` : `\`${filled}\` (its output is below)`)
  }
  const marked = body
    .replaceAll('\0', '')
    .replace(
      /!`([^`\n]+)`|@([\w$~.][\w$~./-]*)/g,
      (whole: string, script: string | undefined, file: string | undefined, at: number, all: string) =>
        put(whole, script, file, all.slice(Math.max(0, at - 1), at)),
    )
  if (looked.length > mostLooked)
    problem ??= `it refers to ${looked.length} commands and files, more than the limit of ${mostLooked}`
  if (problem !== undefined) return { problem }
  const prompt = fillArguments(marked, typed).replace(/\0(\d+)\0/g, (_, at: string) => shown[Number(at)] ?? '')
  return { prompt, looked }
}

function namesArgument(text: string): boolean {
  return /\$(?:ARGUMENTS|\d)/.test(text)
}

function runOf(cmd: string): Looked {
  return { as: `!\`${cmd}\``, tool: 'exec_command', input: { cmd } }
}

/** Creates the call for an `@file`. Returns undefined if there is no such file: the text may be an email address or somebody's name. */
function lookAt(file: string, workspace: string): Looked | undefined {
  let name = file
  // Removes a full stop that ends the sentence, or the slash after a folder's name.
  while (name.endsWith('.') || name.endsWith('/')) name = name.slice(0, -1)
  const found = statSync(resolve(workspace, name), { throwIfNoEntry: false })
  if (name === '' || found === undefined) return undefined
  return { as: `@${file}`, tool: found.isDirectory() ? 'list_dir' : 'read_file', input: { path: name } }
}
