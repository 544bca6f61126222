/** Makes what others use in CI: the two GitHub actions with their bundles, and the GitLab component with the archive that it downloads. */
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { parseAllDocuments } from 'yaml'
import { run } from './run.ts'

/** The most that an action may contain, in bytes. A runner downloads it for each job. */
const largestAction = 15_000_000

/** Makes a folder with the content of a commit to which workflows can pin the actions. */
export function makeActions(folder: string): void {
  run(process.execPath, ['build-actions.ts'])
  for (const name of ['run', 'apply']) {
    const [from, to] = [`.github/actions/${name}`, join(folder, '.github/actions', name)]
    cpSync(join(from, 'dist'), join(to, 'dist'), { recursive: true })
    copyFileSync(join(from, 'action.yml'), join(to, 'action.yml'))
    const size = readdirSync(to, { recursive: true, encoding: 'utf8' }).reduce(
      (sum, file) => sum + statSync(join(to, file)).size,
      0,
    )
    if (size > largestAction)
      throw new Error(`The action ${name} has ${size} bytes, and at most ${largestAction} are agreed on.`)
  }
  copyFileSync('.github/actions/README.md', join(folder, 'README.md'))
}

/** Makes the component's templates, with the archive's address and hash as defaults. The archive will be at `url`. */
export function makeGitLabComponent(
  folder: string,
  { url, sha256 }: { readonly url: string; readonly sha256: string },
): void {
  const templates = 'fixtures/examples/ci/gitlab/templates'
  mkdirSync(join(folder, 'templates'), { recursive: true })
  for (const name of readdirSync(templates)) {
    const documents = parseAllDocuments(readFileSync(join(templates, name), 'utf8'))
    for (const [input, value] of Object.entries({ url, sha256 }))
      documents[0]?.setIn(['spec', 'inputs', input, 'default'], value)
    writeFileSync(join(folder, 'templates', name), documents.map((each) => each.toString({ lineWidth: 0 })).join(''))
  }
}
