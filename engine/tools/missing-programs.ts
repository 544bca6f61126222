import type { ExecResult, Sandbox } from '../../sandbox/index.ts'
import type { ExecAction } from './command-action.ts'
import type { ToolContext } from './tool.ts'

/** The exit code with which a shell says that it didn't find a program. */
const notFound = 127

/**
 * Finds the programs that a command names and that the sandbox doesn't have. Those that a run can make are left out: programs that are
 * named by a path or that the command's own programs start, such as a script of npm, and all of them without a sandbox.
 *
 * @param action the command, as it was approved; it runs in a shell
 * @param context its `review` must treat the questions to the shell as the user's own command
 */
export async function missingPrograms(
  action: ExecAction,
  result: ExecResult,
  context: ToolContext,
  sandbox: Sandbox,
): Promise<readonly string[]> {
  if (result.status !== 'exited' || result.code !== notFound || sandbox.policy.mode === 'danger-full-access') return []
  // A function that the command defines is no program.
  if (action.argv.some((word) => /\(\s?\)|\bfunction\b/.test(word))) return []
  const named = context.guardian
    .assess(action)
    .analysis?.commands.flatMap(({ words: [program] }) =>
      program?.kind === 'static' && /^[^/]+$/.test(program.text) ? [program.text] : [],
    )
  const missing: string[] = []
  for (const name of new Set(named)) {
    const { approved } = await context.review({ ...action, argv: [sandbox.shell, '-c', 'command -v "$0"', name] })
    if (approved === undefined) return []
    const {
      cwd,
      argv: [program = '', ...words],
    } = approved
    const env = context.variables === undefined ? {} : { env: context.variables }
    const asked = sandbox.spawn({ argv: [program, ...words], cwd, readOnly: true, ...env })
    for (const stream of [asked.stdout, asked.stderr]) stream.resume()
    const found = await asked.result
    if (found.status === 'exited' && found.code !== 0) missing.push(name)
  }
  return missing
}
