import { shellJoin } from '../core/text/shell-join.ts'
import { actionOf, type CallView, type SeenCall } from './call-view.ts'

/** Shows a command to hooks as a call to Claude Code's `Bash` tool. */
export function bashView({ input }: SeenCall, workspace: string): CallView {
  const { cmd, timeout_ms: timeout, justification: description } = input
  const shown = {
    command: cmd,
    ...(timeout === undefined ? {} : { timeout }),
    ...(description === undefined ? {} : { description }),
  }
  return {
    name: 'Bash',
    input: shown,
    action: actionOf('Bash', shown, workspace),
    replace: ({ command, timeout: milliseconds, ...rest }) => {
      const unknown = Object.keys(rest).filter((key) => !['description', 'run_in_background'].includes(key))
      if (unknown.length > 0)
        return { problem: `it sets ${unknown.join(', ')}, which the Bash tool does not support here` }
      return { input: { ...input, cmd: command, ...(milliseconds === undefined ? {} : { timeout_ms: milliseconds }) } }
    },
  }
}

/**
 * Shows a command that was given as an argument vector (the tool's older form) as a call to Claude Code's `Bash` tool. Hook
 * scripts see the text that the shell in the vector receives.
 */
export function vectorView(call: SeenCall, workspace: string): CallView {
  const view = bashView({ ...call, input: { ...call.input, cmd: scriptOf(call) } }, workspace)
  return {
    ...view,
    replace: ({ command, timeout }) => ({
      input: {
        ...call.input,
        command: ['/bin/sh', '-c', String(command)],
        ...(timeout === undefined ? {} : { timeout_ms: timeout }),
      },
    }),
  }
}

/** Returns the text that the shell in an argument vector receives. For vectors not of the form `sh -c text`, returns all words as shell text. */
export function scriptOf({ input }: SeenCall): string {
  const words = Array.isArray(input['command']) ? input['command'].map(String) : []
  const [program = '', flag = '', script] = words
  const isShell = words.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(program) && /^-l?c$/.test(flag)
  return isShell ? String(script) : shellJoin(words)
}

/**
 * Shows text that is typed into a running command as a call to Claude Code's `Bash` tool, because the text may be a command itself.
 * `pending` is text that was typed earlier, without a newline.
 */
export function typedView({ input }: SeenCall, workspace: string): CallView {
  const { pending, chars, ...rest } = input
  const shown = { command: `${String(pending ?? '')}${String(chars)}` }
  return {
    name: 'Bash',
    input: shown,
    action: actionOf('Bash', shown, workspace),
    replace: ({ command }) =>
      pending === undefined || pending === ''
        ? { input: { ...rest, chars: command } }
        : { problem: 'an earlier call has already typed the beginning of this line' },
  }
}
