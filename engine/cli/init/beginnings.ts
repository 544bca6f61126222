import { dockerScript } from './docker-script.ts'
import { firstConfig } from './first-config.ts'
import { firstRules } from './first-rules.ts'
import { gitHubWorkflow } from './github-workflow.ts'
import { gitLabInclude, gitLabJob } from './gitlab-job.ts'
import { jenkinsPipeline } from './jenkins-pipeline.ts'
import type { ForWorkflow } from './job-scripts.ts'

/** A file to write, by its path in the repository. */
export type NewFile = { readonly path: string; readonly text: string }

/** Where agent is to run, besides here. */
export type Where = 'github' | 'gitlab' | 'jenkins' | 'docker'

type Place = {
  readonly name: string
  readonly files: (made: ForWorkflow) => readonly NewFile[]
  /** What somebody has to do. `set` names the variables that are still to be set. */
  readonly next: (set: readonly string[], secret: string | undefined, written: readonly string[]) => readonly string[]
}

const archiveOf = 'from a release: the address of its linux-x64.tar.gz, and the hash in its SHA256SUMS'

const included = '.gitlab-ci.yml'
const paths = {
  github: '.github/workflows/agent.yml',
  gitlab: '.gitlab/agent.yml',
  jenkins: '.portcullis/Jenkinsfile',
  docker: '.portcullis/in-docker',
} as const

const places: Readonly<Record<Where, Place>> = {
  github: {
    name: 'GitHub',
    files: (made) => [{ path: paths.github, text: gitHubWorkflow(made) }],
    next: (set, secret) => [
      ...secretStep(secret, (name) => `gh secret set ${name}`),
      ...variableStep(set, (name) => `gh variable set ${name}`),
      `commit ${paths.github}, and start it: gh workflow run agent.yml -f prompt="make the tests pass" -f verify="npm test"`,
    ],
  },
  gitlab: {
    name: 'GitLab',
    files: (made) => [
      { path: paths.gitlab, text: gitLabJob(made) },
      { path: included, text: gitLabInclude(paths.gitlab) },
    ],
    next: (set, secret, written) => [
      ...(written.includes(included) ? [] : [`add to ${included}, in "include": - local: /${paths.gitlab}`]),
      ...secretStep(secret, (name) => `glab variable set ${name} --masked`),
      ...variableStep(set, (name) => `glab variable set ${name}`),
      `commit the files, and start the job: glab ci run --variables PROMPT:"make the tests pass",VERIFY:"npm test"`,
    ],
  },
  jenkins: {
    name: 'Jenkins',
    files: (made) => [{ path: paths.jenkins, text: jenkinsPipeline(made) }],
    next: (set, secret) => [
      ...secretStep(secret, (name) => `as a credential of the kind "secret text" with the id ${name}`),
      ...variableStep(set, (name) => `${name} as a global environment variable`),
      `install git, bubblewrap and curl on the agents; commit ${paths.jenkins}, and make a pipeline with this script path`,
    ],
  },
  docker: {
    name: 'docker',
    files: ({ model }) => [{ path: paths.docker, text: dockerScript(model) }],
    next: () => [
      'load the image of a release (docker load --input portcullis-VERSION-image.tar.gz), or set PORTCULLIS_IMAGE',
      `sh ${paths.docker} exec "make the tests pass"`,
    ],
  },
}

/**
 * The files with which a repository begins, and what somebody has to do after they were written.
 *
 * @param asked the places that were asked for, the model, and the archive for the workflows (undefined: workflows read variables)
 */
export function beginnings(asked: ForWorkflow & { readonly [place in Where]?: true | undefined }): {
  readonly files: readonly NewFile[]
  readonly next: (written: readonly string[]) => readonly string[]
} {
  const chosen = (Object.keys(places) as Where[]).filter((place) => asked[place] === true).map((place) => places[place])
  const config = '.portcullis/config.toml'
  const set = asked.release === undefined ? ['PORTCULLIS_URL', 'PORTCULLIS_SHA256'] : []
  return {
    files: [
      { path: config, text: firstConfig(asked.model) },
      { path: '.portcullis/rules/project.rules', text: firstRules },
      ...chosen.flatMap(({ files }) => files(asked)),
    ],
    next: (written) => [
      ...(asked.model.isNamed && written.includes(config)
        ? [`agent trust, or --trust: until then, ${config} doesn't apply here, except what makes runs stricter`]
        : []),
      'agent exec "make the tests pass"',
      ...chosen.flatMap(({ name, next, files }) => {
        const kept = files(asked).flatMap(({ path }) => (path === included || written.includes(path) ? [] : [path]))
        const stale = kept.map((path) => `${path} is as it was: delete it to have it written with these options`)
        return [...stale, ...next(set, asked.model.variable, written)].map((step) => `${name}: ${step}`)
      }),
    ],
  }
}

function secretStep(secret: string | undefined, how: (name: string) => string): readonly string[] {
  return secret === undefined ? [] : [`store the key: ${how(secret)}`]
}

function variableStep(set: readonly string[], how: (name: string) => string): readonly string[] {
  return set.length === 0 ? [] : [`say which archive to use (${archiveOf}): ${set.map(how).join('; ')}`]
}
