import type { SeatbeltProfile } from './profile.ts'

/** Part of macOS and protected by it, so its path needs no lookup. */
export const sandboxExec = '/usr/bin/sandbox-exec'

/**
 * The arguments for sandbox-exec(1) that run a command under a profile. A value may hold anything, an equals sign too: its name ends at
 * the first.
 */
export function sandboxExecArguments(profile: SeatbeltProfile, command: readonly string[]): readonly string[] {
  const definitions = Object.entries(profile.parameters).flatMap(([name, value]) => ['-D', `${name}=${value}`])
  return [...definitions, '-p', profile.text, '--', ...command]
}
