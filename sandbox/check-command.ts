import { SandboxError } from './sandbox-error.ts'
import type { Command } from './sandbox.ts'

/**
 * Throws `invalid-command` if a command can't be started exactly as it is given. Node would replace text that isn't well-formed Unicode, so another
 * program would run, or it would get other arguments.
 */
export function checkCommand({ argv, cwd, env = {}, timeoutMs = 1 }: Command): void {
  const texts = [...argv.entries()].map(([at, word]) => [`argv[${at}]`, word] as const)
  const variables = Object.entries(env)
  const problems = [
    ...texts,
    ['cwd', cwd] as const,
    ...variables.map(([name, value]) => [`env.${name}`, value] as const),
  ]
    .filter(([, text]) => !isPlainText(text))
    .map(([key]) => ({ key: key.toWellFormed(), expected: 'must be text without unpaired surrogates or NULs' }))
  if (texts.length === 0) problems.push({ key: 'argv', expected: 'must have at least one entry, the program' })
  for (const [name] of variables) {
    if (!isPlainText(name) || /^$|=/.test(name))
      problems.push({ key: `env.${name.toWellFormed()}`, expected: 'must be the name of a variable' })
  }
  if (Number.isNaN(timeoutMs)) problems.push({ key: 'timeoutMs', expected: 'must be a number of milliseconds' })
  if (problems.length > 0) throw new SandboxError('invalid-command', { problems })
}

function isPlainText(text: unknown): boolean {
  return typeof text === 'string' && text.isWellFormed() && !text.includes('\0')
}
