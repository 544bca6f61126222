import { spawnSync } from 'node:child_process'

/** Runs a program, which must succeed, and returns what it printed. */
export function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', env, maxBuffer: 1 << 28 })
  if (status === 0) return stdout
  if (error !== undefined && 'code' in error && error.code === 'ENOENT')
    throw new Error(`${program} is not installed: a release needs it (on Debian: apt-get install ${program}).`)
  throw new Error(`${program} ${args.slice(0, 3).join(' ')} … failed: ${error?.message ?? stderr + stdout}`)
}
