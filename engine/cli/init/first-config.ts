import { rowOf } from '../../config/settings/index.ts'
import type { ModelForCi } from './model-for-ci.ts'

/** The settings that most repositories want first, each with an example. A dot separates a table from its key. */
const examples: readonly (readonly [key: string, value: string])[] = [
  ['model_reasoning_effort', '"high"'],
  ['approval_policy', '"never"'],
  ['sandbox_workspace_write.allowed_hosts', '["npm"]'],
  ['sandbox_read.deny', '[".env*"]'],
  ['sandbox_limits.memory', '"4G"'],
]

/** The settings with which a repository begins: a model if one was named, and otherwise only comments. */
export function firstConfig({ name, isNamed }: Pick<ModelForCi, 'name' | 'isNamed'>): string {
  const lines = examples.flatMap(([path, value]) => {
    const [table = '', key] = path.split('.')
    const setting = `# ${key ?? table} = ${value}`
    return ['', ...explained(path), ...(key === undefined ? [setting] : [`# [${table}]`, setting])]
  })
  return `# Settings of runs in this repository. They apply once you trust it (agent trust, or --trust for one run). All settings: agent config schema;
# the values of a run here, with their sources: agent config show.

${explained('model').join('\n')}
${isNamed ? '' : '# '}model = ${JSON.stringify(name)}
${lines.join('\n')}
`
}

/** What the table of settings says about a setting, as a comment. */
function explained(path: string): readonly string[] {
  const [table = '', key] = path.split('.')
  const row = rowOf(table)
  const about = (key === undefined ? row?.about : row?.keys?.[key]?.about) ?? ''
  return wrapped(withoutMarkdown(about), 100).map((line) => `# ${line}`)
}

/** Removes marks of code, and references to other pages. */
function withoutMarkdown(text: string): string {
  return text.replaceAll(/ \(\[[a-z]{1,20}\]\([^)]{0,99}\)\)|`/g, '')
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
