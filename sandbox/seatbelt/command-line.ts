import type { SeatbeltProfile } from './profile.ts'

/** The path of sandbox-exec. It needs no lookup, because the program is part of macOS, which protects it. */
export const sandboxExec = '/usr/bin/sandbox-exec'

/**
 * The arguments for sandbox-exec(1) that run a command under a profile. A parameter's value may contain any text, even an equals sign: the
 * parameter's name ends at the first equals sign.
 */
export function sandboxExecArguments(profile: SeatbeltProfile, command: readonly string[]): readonly string[] {
  const definitions = Object.entries(profile.parameters).flatMap(([name, value]) => ['-D', `${name}=${value}`])
  return [...definitions, '-p', profile.text, '--', ...command]
}
