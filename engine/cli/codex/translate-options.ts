import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ExecOptions } from '../exec-options.ts'
import { readImage } from '../read-image.ts'
import { warn } from '../warn.ts'
import { UserError } from '../../core/user-error.ts'
import type { CodexOptions } from './codex-options.ts'

/** Options that Codex has and that change nothing here, each with the reason. */
const withoutEffect: Readonly<Partial<Record<keyof CodexOptions, string>>> = {
  dangerouslyBypassHookTrust:
    '--dangerously-bypass-hook-trust changes nothing: hooks of your own configuration run anyway',
  cyberAccessProgram: '--cyber-access-program changes nothing: only Codex can ask for it',
  title: '--title changes nothing: a review has no title here',
}

/** What Codex runs with `--oss`. */
const localModels: Readonly<Record<string, string>> = { ollama: 'gpt-oss:20b', lmstudio: 'openai/gpt-oss-20b' }

/**
 * Says the options of a command line for Codex in the words of `agent exec`.
 *
 * @throws UserError `usage` for an option that asks for what can't be had here
 */
export function translateOptions(given: CodexOptions): ExecOptions {
  const { profile, strictConfig, ignoreUserConfig, ignoreRules, yolo, a, ...options } = given
  if (given.worktree === true) {
    throw new UserError(
      'usage',
      '--worktree: runs work on a private view of the workspace anyway. Leave it out, and give --land never to keep the changes out of the workspace.',
    )
  }
  if (given.remote !== undefined)
    throw new UserError('usage', '--remote: a run works only on this machine. Leave it out.')
  for (const [name, why] of Object.entries(withoutEffect))
    if (given[name as keyof CodexOptions] !== undefined) warn(`${why}.`)
  return {
    ...options,
    ...(yolo === true ? { dangerouslyBypassApprovalsAndSandbox: true } : {}),
    ...(a === undefined ? {} : { askForApproval: a }),
    // As in Codex. With -s, the two contradict each other there.
    ...(given.approveForMe === true && given.sandbox === undefined ? { sandbox: 'workspace-write' } : {}),
    ...local(given),
    ...pictures(given),
    config: [...options.config, ...overrides(given)],
    addDir: (options.addDir ?? []).filter(isThere),
    codex: {
      userConfig: ignoreUserConfig !== true && options.isolated !== true,
      rules: ignoreRules !== true,
      strict: strictConfig === true,
      profile,
    },
  }
}

function overrides({ enable = [], disable = [], permissionProfile, oss, localProvider = 'ollama' }: CodexOptions) {
  return [
    ...enable.map((feature) => `features.${feature}=true`),
    ...disable.map((feature) => `features.${feature}=false`),
    ...(permissionProfile === undefined ? [] : [`default_permissions=${JSON.stringify(permissionProfile)}`]),
    ...(oss === true ? [`model_provider=${JSON.stringify(localProvider)}`] : []),
  ]
}

function local({ oss, localProvider = 'ollama', model }: CodexOptions): Pick<ExecOptions, 'model'> {
  if (oss !== true || model !== undefined) return {}
  const usual = localModels[localProvider]
  if (usual !== undefined) return { model: usual }
  const known = Object.keys(localModels).join(' and ')
  throw new UserError('usage', `--local-provider ${localProvider}: expected ${known}, or -m with the name of a model.`)
}

/** Whether a folder of `--add-dir` exists. Codex accepts one that doesn't; here, nothing can be written there. */
function isThere(directory: string): boolean {
  const path = resolve(directory)
  if (existsSync(path)) return true
  warn(`--add-dir ${path}: no such directory, so commands can't write there. Make it before the run.`)
  return false
}

/** Leaves out files that aren't pictures. As in Codex, the model is told about them instead. */
function pictures({ image = [] }: CodexOptions): Pick<ExecOptions, 'image' | 'afterPrompt'> {
  const kept: string[] = []
  const notes: string[] = []
  for (const file of image) {
    try {
      readImage(file)
      kept.push(file)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      warn(`${error.message}, so the model doesn't see it.`)
      notes.push(`The user attached ${resolve(file)}, which can't be shown: ${error.message}.`)
    }
  }
  return { image: kept, ...(notes.length === 0 ? {} : { afterPrompt: notes.join('\n') }) }
}
