import { archiveVariables, indented, jobScript, type ForWorkflow } from './job-scripts.ts'
import { variablesOf } from './model-for-ci.ts'

/** Lets bubblewrap, and only it, create user namespaces, which Ubuntu forbids. */
const sandbox = [
  'sudo apt-get update && sudo apt-get install --yes bubblewrap',
  'bwrap --unshare-user --ro-bind / / true || sudo apparmor_parser --replace <<END',
  'abi <abi/4.0>,',
  'include <tunables/global>',
  'profile portcullis-bwrap /usr/bin/bwrap flags=(unconfined) {',
  '  userns,',
  '}',
  'END',
]

/** A workflow for GitHub that runs a task when somebody starts it. */
export function gitHubWorkflow(made: ForWorkflow): string {
  const { variable } = made.model
  const archive = archiveVariables(made, (each) => `\${{ vars.${each} }}`)
  const environment = [
    ...(variable === undefined ? [] : [`${variable}: \${{ secrets.${variable} }}`]),
    ...variablesOf(made.model).map(([each, value]) => `${each}: ${JSON.stringify(value)}`),
    'PROMPT: ${{ inputs.prompt }}',
    'VERIFY: ${{ inputs.verify }}',
    ...archive.map(([each, value]) => `${each}: ${value}`),
  ]
  return `# Runs a task when somebody starts this workflow. The job can only read the repository: the change is a patch among its artifacts.
name: Agent
on:
  workflow_dispatch:
    inputs:
      prompt:
        description: The task
        required: true
        type: string
      verify:
        description: A command that has to succeed, such as npm test
        type: string
permissions: {}
jobs:
  agent:
    runs-on: ubuntu-24.04
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8
        with:
          persist-credentials: false
      - name: Install the sandbox
        run: |
${indented(sandbox, 10)}
      - name: Run
        env:
${indented(environment, 10)}
        run: |
${indented(jobScript, 10)}
      - if: \${{ !cancelled() }}
        uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02
        with:
          name: portcullis
          path: portcullis.*
`
}
