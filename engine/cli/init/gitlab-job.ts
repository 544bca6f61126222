import { archiveVariables, indented, jobScript, type ForWorkflow } from './job-scripts.ts'
import { variablesOf } from './model-for-ci.ts'

/** A job for GitLab that runs the task in the variable PROMPT of a pipeline that somebody starts. */
export function gitLabJob(made: ForWorkflow): string {
  const { variable } = made.model
  const archive = archiveVariables(made, () => undefined)
  const needed = [
    ...(variable === undefined ? [] : [variable]),
    ...(made.release === undefined ? ['PORTCULLIS_URL', 'PORTCULLIS_SHA256'] : []),
  ]
  return `# Runs a task in a pipeline that somebody starts with the variable PROMPT, and perhaps VERIFY: a command that has to succeed, such as npm test.
# Nothing is pushed: the change is a patch among the artifacts.
${needed.length === 0 ? '' : `# It needs these variables of the project: ${needed.join(', ')}.\n`}# If the runner's docker forbids namespaces, the job ends with exit code 5, and its log says which of the runner's options would help.
agent:
  rules:
    - if: $PROMPT
  image: debian:12-slim
  variables:
${variablesOf(made.model)
  .map(([each, value]) => `    ${each}: ${JSON.stringify(value)}\n`)
  .join('')}${archive.map(([each, value]) => `    ${each}: ${value}\n`).join('')}  before_script:
    - apt-get update && apt-get install --yes --no-install-recommends bubblewrap ca-certificates curl git libstdc++6
  script:
    - |
${indented(jobScript, 6)}
  artifacts:
    when: always
    paths: [portcullis.html, portcullis.patch]
`
}

/** The pipeline of a repository that has no other. */
export function gitLabInclude(path: string): string {
  return `include:
  - local: /${path}
`
}
