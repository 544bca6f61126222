import { resolve } from 'node:path'
import * as z from 'zod'
import { parseForeignJson, type ForeignJson } from '../../config/foreign/parse-json.ts'
import { modelOf } from '../../config/foreign/claude-settings.ts'
import { readUserText } from '../../core/read-plain-file.ts'
import { UserError } from '../../core/user-error.ts'
import type { AgentDefinition } from '../../skills/definition.ts'
import { readToolAllowlist } from '../../skills/tool-allowlist.ts'
import { warn } from '../warn.ts'
import type { ClaudeOptions } from './claude-options.ts'

const largestFile = 16 * 1024 * 1024

/** The texts of the files that options name, by path. A session reads each only once, because what its turns land may change the file. */
const texts = new Map<string, string>()

/** Reads an option whose value is JSON itself or a file's path. Returns the text, and what messages call it. */
export function textOf(given: string, option: string): { readonly text: string; readonly name: string } {
  if (given.trimStart().startsWith('{')) return { text: given, name: option }
  const path = resolve(given)
  const text = texts.get(path) ?? readUserText(path, largestFile, `${option} ${given}`)
  texts.set(path, text)
  return { text, name: given }
}

/** The instructions in files that options name, as the options that they stand for. @throws UserError `usage` if both are given */
export function promptsIn(given: ClaudeOptions): ClaudeOptions {
  const { systemPromptFile: own, appendSystemPromptFile: more, ...options } = given
  if (own !== undefined && options.systemPrompt !== undefined)
    throw new UserError('usage', 'Give --system-prompt or --system-prompt-file, not both.')
  if (more !== undefined && options.appendSystemPrompt !== undefined)
    throw new UserError('usage', 'Give --append-system-prompt or --append-system-prompt-file, not both.')
  const read = (path: string, option: string): string => readUserText(resolve(path), largestFile, `${option} ${path}`)
  return {
    ...options,
    ...(own === undefined ? {} : { systemPrompt: read(own, '--system-prompt-file') }),
    ...(more === undefined ? {} : { appendSystemPrompt: read(more, '--append-system-prompt-file') }),
  }
}

/** Reads JSON that is given itself or as a file's path. @throws UserError `usage` if it isn't JSON */
export function jsonOf(given: string, option: string): ForeignJson {
  const { text, name } = textOf(given, option)
  const parsed = parseForeignJson(text, name)
  if ('reason' in parsed) throw new UserError('usage', parsed.reason)
  return parsed
}

const Agents = z.record(
  z.string().min(1),
  z.looseObject({
    description: z.string(),
    prompt: z.string(),
    tools: z.array(z.string()).nullish(),
    model: z.string().nullish(),
  }),
)
const honoured: ReadonlySet<string> = new Set(['description', 'prompt', 'tools', 'model'])

/**
 * Reads the agents that a client defines.
 *
 * @param option what messages call them
 * @throws UserError `usage` for agents that can't be used. One that silently lost what restricts it would do more than it may.
 */
export function agentsIn(value: unknown, option: string): readonly AgentDefinition[] {
  const { data, error } = Agents.safeParse(value)
  if (data === undefined) throw new UserError('usage', `${option}: ${z.prettifyError(error)}`)
  return Object.entries(data).map(([name, { description, prompt, tools, model, ...others }]) => {
    if ('disallowedTools' in others)
      throw new UserError(
        'usage',
        `${option}: ${name}: disallowedTools can't be had here: list in tools what the agent may use`,
      )
    const idle = Object.keys(others).filter((key) => !honoured.has(key))
    if (idle.length > 0) warn(`${option}: ${name}: these keys change nothing: ${idle.join(', ')}.`)
    if (tools != null) readToolAllowlist(tools, option)
    const own = model == null || model === 'inherit' ? undefined : modelOf(model)
    const what = { kind: 'agent', name, description, allowedTools: tools ?? undefined, restrict: true } as const
    return { ...what, model: own, path: option, body: prompt }
  })
}
