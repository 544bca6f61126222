import { findSensitive } from '../commands/sensitive-paths.ts'
import type { ShellWord } from '../commands/shell-word.ts'
import { isWorkspacePath } from '../commands/workspace-paths.ts'

/** Stages of a pipeline that pass lines on without making new ones. */
const passing = new Set(['sort', 'uniq', 'head', 'tail', 'grep', 'tac'])

/** Words by which a search or a filter goes for credentials. */
const telling = /env|secret|cred|key|pem|token|ssh|aws|passw|netrc|npmrc|auth/i

/**
 * Whether a pipeline prints names of files below the working folder: `find .`, `git ls-files`, `rg -l`, `grep -rl`,
 * with filters after it. `./` means that every name begins so; `bare` that a name may begin with a dash. What it
 * doesn't know is false.
 */
export function listsWorkspaceFiles(stages: readonly (readonly ShellWord[])[]): 'dotted' | 'bare' | false {
  const [first, ...rest] = stages
  if (stages.flat().some(({ text }) => findSensitive(text, true) !== undefined || telling.test(text))) return false
  const texts = first?.map((word) => (word.kind === 'dynamic' ? undefined : word.text))
  if (first === undefined || texts === undefined || texts.includes(undefined)) return false
  if (
    !rest.every(
      (stage) =>
        passing.has(stage[0]?.text ?? '') &&
        !stage.some(({ text }) => /^(?:-[a-z]*[rRfo]|--(?:recursive|file|only-matching|output))/.test(text)),
    )
  )
    return false
  // A filter with a file of its own prints that file's lines instead of the names.
  if (
    !rest.every(
      (stage) =>
        stage.slice(1).filter(({ text }) => !/^[-0-9]/.test(text)).length <= (stage[0]?.text === 'grep' ? 1 : 0),
    )
  )
    return false
  const [program, ...args] = texts
  const operands = first.slice(1).filter(({ text }) => !text.startsWith('-'))
  const inside = operands.every(isWorkspacePath)
  switch (program) {
    case 'find':
      return inside && !args.includes('-printf')
        ? /^\.?\//.test(operands[0]?.text ?? './') || operands[0]?.text === '.'
          ? 'dotted'
          : 'bare'
        : false
    case 'git':
      return args[0] === 'ls-files' && inside ? 'bare' : false
    case 'rg':
      return inside && args.some((arg) => /^(?:-[a-z]*l|--files|--files-with-matches)$/.test(arg ?? ''))
        ? 'bare'
        : false
    case 'grep':
      return inside && args.some((arg) => /^(?:-[A-Za-z]*l[A-Za-z]*|--files-with-matches)$/.test(arg ?? ''))
        ? 'bare'
        : false
    case 'fd':
    case 'ls':
      return inside && !args.some((arg) => /^-[A-Za-z]*l/.test(arg ?? '')) ? 'bare' : false
    default:
      return false
  }
}
