import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import type { RunRequest } from '../app/run-request.ts'
import { findWorkspace } from '../app/workspace.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import type { ExecOptions } from './exec-options.ts'
import { openOutputFile } from './output-file.ts'
import { readImage } from './read-image.ts'
import { readOutputSchema } from './read-output-schema.ts'
import { readPrompt } from './read-prompt.ts'
import { requestedSettings } from './run-config.ts'
import { warn } from './warn.ts'
import { isPersonThere, openOwnTerminal } from './own-terminal.ts'
import { telling } from './print.ts'

/** The fields that are part of every request, whatever its task. */
export function commonRequest(options: ConfigOptions): Omit<RunRequest, 'task'> {
  const { approvalProgram } = options
  return {
    workspace: findWorkspace(options.cd ?? process.cwd()),
    environment: process.env,
    from: process.cwd(),
    settings: { ...requestedSettings(options), ...(options.codex === undefined ? {} : { codex: options.codex }) },
    externallySandboxed: options.externallySandboxed === true,
    insistsOnSearch: options.search === true,
    reviewing: {
      ...(options.approveForMe === true ? { by: { kind: 'model' } } : {}),
      ...(approvalProgram === undefined ? {} : { by: { kind: 'program', argv: ['/bin/sh', '-c', approvalProgram] } }),
    },
    warn,
    errors: telling(),
  }
}

/**
 * Turns a command line into a request.
 *
 * @param argument the prompt as the user typed it
 * @throws UserError `usage` if options contradict each other, if the workspace isn't a directory, or if a picture or a schema can't be used
 */
export async function runRequest(argument: string | undefined, options: ExecOptions): Promise<RunRequest> {
  const { outputLastMessage: file, outputSchema, threadSource, timeout, plan, record } = options
  const common = commonRequest(options)
  const note = options.quiet === true ? { note: () => undefined } : {}
  return {
    ...common,
    task: {
      type: 'prompt',
      prompt:
        argument === '' && options.at !== undefined
          ? ''
          : async () => withNote(await readPrompt(argument, process.stdin, { ...options, ...note }), options),
      images: (options.image ?? []).map(readImage),
    },
    ...(threadSource === undefined ? {} : { source: threadSource }),
    ephemeral: options.ephemeral === true,
    ...transactionOf(options),
    ...verificationOf(options),
    outsideRepository: options.skipGitRepoCheck === true,
    ...(plan === undefined ? {} : { plan }),
    reviewing: {
      ...common.reviewing,
      ...(isPersonThere(options) ? { person: openOwnTerminal } : {}),
    },
    ...(options.claims === true || options.failOnContradiction === true
      ? { claims: { fail: options.failOnContradiction === true } }
      : {}),
    ...(outputSchema === undefined ? {} : { output: await readOutputSchema(outputSchema) }),
    ...(file === undefined ? {} : { deliver: () => openOutputFile(file), deliversTo: realPathOf(file) }),
    budget: {
      maxTurns: options.maxTurns,
      maxTokens: options.maxTokens,
      maxCost: options.maxCost,
      timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    },
    failOnDenied: options.failOnDenied === true,
    failOnNoChange: options.failOnNoChange === true,
    ...(record === undefined ? {} : { record: resolve(record) }),
  }
}

function withNote(prompt: string, { afterPrompt }: ExecOptions): string {
  return afterPrompt === undefined ? prompt : `${prompt}\n\n${afterPrompt}`
}

/** The path of a file without symlinks in its directory. If the directory doesn't exist, opening the file says so. */
function realPathOf(file: string): string {
  const path = resolve(file)
  return existsSync(dirname(path)) ? join(realpathSync.native(dirname(path)), basename(path)) : path
}

/** Returns the options for the run's view and its landing; an empty object if none of them is given. */
function transactionOf({
  transactional,
  view = transactional,
  land,
  landIgnored,
  inPlace,
}: ExecOptions): Pick<RunRequest, 'transaction'> {
  if ([view, land, landIgnored, inPlace].every((each) => each === undefined)) return {}
  return {
    transaction: {
      ...(view === undefined ? {} : { strategy: view }),
      // The person is asked when the run is over.
      ...(land === undefined ? {} : { land: land === 'ask' ? 'never' : land }),
      ...(landIgnored === undefined ? {} : { landIgnored: landIgnored === 'yes' }),
      ...(inPlace === undefined ? {} : { inPlace }),
    },
  }
}

function verificationOf({
  verify,
  verifyRed: red,
  verifyAttempts: attempts,
  allowTestChanges,
  allowWeakening,
}: ExecOptions): Pick<RunRequest, 'verify'> {
  if ([verify, red, attempts, allowTestChanges, allowWeakening].every((each) => each === undefined)) return {}
  return {
    verify: {
      ...(verify === undefined ? {} : { commands: verify === false ? [] : verify }),
      ...(red === undefined ? {} : { red }),
      ...(attempts === undefined ? {} : { attempts }),
      ...(allowTestChanges === undefined ? {} : { allowTestChanges }),
      ...(allowWeakening === undefined ? {} : { allowWeakening }),
    },
  }
}
