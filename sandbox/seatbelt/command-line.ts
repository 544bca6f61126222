import type { SeatbeltProfile } from './profile.ts'

/** Its path needs no lookup, because it is part of macOS and protected by it. */
export const sandboxExec = '/usr/bin/sandbox-exec'

/**
 * The arguments for sandbox-exec(1) that run a command under a profile. A parameter's value may contain anything, even an equals sign: only the first one ends
 * the parameter's name.
 */
export function sandboxExecArguments(profile: SeatbeltProfile, command: readonly string[]): readonly string[] {
  const definitions = Object.entries(profile.parameters).flatMap(([name, value]) => ['-D', `${name}=${value}`])
  return [...definitions, '-p', profile.text, '--', ...command]
}
