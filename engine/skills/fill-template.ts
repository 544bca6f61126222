import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fillArguments, typedWords } from './fill-arguments.ts'

/** What the text of a command wants run or read: a call as a model would make it. */
export type Looked = {
  /** As written in the text. */
  readonly as: string
  readonly tool: 'exec_command' | 'read_file' | 'list_dir'
  readonly input: Readonly<Record<string, string>>
}

/** More would be no prompt any more. */
const mostLooked = 20

/** Characters that a shell takes literally, quoted or not, and that begin no option. */
const plainWord = /^[\w./:@=+,%][\w./:@=+,%-]*$/

/**
 * The text of a command or skill with its arguments filled in, and the calls that it requests: !`command` and @file, as written in the text
 * itself. Arguments can't add any of these, and can't end a command's word: somebody else may have written them.
 *
 * @returns the text, which refers to the calls by name, and the calls; or why it can't be filled in
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
    // An address, or a name in code.
    if (file !== undefined && /[\w`]/.test(before)) return whole
    const text = script ?? file ?? ''
    const odd = namesArgument(text) ? words.find((word) => !plainWord.test(word)) : undefined
    if (odd !== undefined && script !== undefined) {
      problem ??= `'${odd}' can't be put into the command !\`${script}\`: only words of letters, digits and . / : @ = + , % _ - can`
      return whole
    }
    const filled = namesArgument(text) ? fillArguments(text, words.join(' ')) : text
    const one = script === undefined ? lookAt(filled, workspace) : runOf(filled)
    if (one === undefined) return whole
    looked.push(one)
    return keep(
      script === undefined ? `${filled} (what is in it stands below)` : `\`${filled}\` (its output stands below)`,
    )
  }
  const marked = body
    .replaceAll('\0', '')
    .replace(
      /!`([^`\n]+)`|@([\w$~.][\w$~./-]*)/g,
      (whole: string, script: string | undefined, file: string | undefined, at: number, all: string) =>
        put(whole, script, file, all.slice(Math.max(0, at - 1), at)),
    )
  if (looked.length > mostLooked)
    problem ??= `it wants ${looked.length} commands and files looked at; ${mostLooked} is the most`
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

/** Undefined where no such file exists, as for an address or somebody's name. */
function lookAt(file: string, workspace: string): Looked | undefined {
  let name = file
  // The end of a sentence, or of a folder's name.
  while (name.endsWith('.') || name.endsWith('/')) name = name.slice(0, -1)
  const found = statSync(resolve(workspace, name), { throwIfNoEntry: false })
  if (name === '' || found === undefined) return undefined
  return { as: `@${file}`, tool: found.isDirectory() ? 'list_dir' : 'read_file', input: { path: name } }
}
