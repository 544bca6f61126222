import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readRollout } from './rollout.ts'

/**
 * The words of the commands that the model of a session has written, for example the URLs in them. What commands wrote themselves isn't among them. Empty for an
 * ephemeral session, which keeps no rollout.
 */
export function typedWords(directory: string): ReadonlySet<string> {
  const file = join(directory, 'rollout.jsonl')
  if (!existsSync(file)) return new Set()
  const commands = readRollout(file).original.flatMap((item) =>
    item.type === 'tool_call' && item.call.kind === 'function' ? commandsIn(item.call.input) : [],
  )
  return new Set(commands.flatMap((each) => each.split(/[\s'"`;|&()<>]/)))
}

function commandsIn(input: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(input)
    if (typeof parsed !== 'object' || parsed === null) return []
    const found = 'cmd' in parsed ? parsed.cmd : 'command' in parsed ? parsed.command : undefined
    return [found].flat().filter((each) => typeof each === 'string')
  } catch {
    // The model wrote something that isn't JSON, so the call failed.
    return []
  }
}
