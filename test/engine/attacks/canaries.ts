import { randomBytes } from 'node:crypto'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Scene } from './scene.ts'

/** Secrets like those on a CI machine or a developer's machine, each of them unique. */
export type Planted = {
  readonly names: readonly string[]
  /** The files that contain the secrets. */
  readonly paths: readonly string[]
  /** Environment variables of the job that starts the run. */
  readonly env: Readonly<Record<string, string>>
  /** Stops the process on the host that has a secret on its command line. */
  close(): void
}

/** The prefix of every canary. A script that searches for canaries puts the last letter in brackets, so that the pattern doesn't match the script itself. */
const mark = 'CANARY'

/** Commands with which a script prints the canaries in its input. Their prefix is replaced in the output, so that masking can't remove them. */
export const findCanaries = `grep -aoh 'CANAR[Y]-[a-z0-9-]*' | sed 's/CANAR[Y]-/seen-/' | sort -u`

/** A canary that every command may see: if it is not found, no search took place. */
export const control = 'control'

const header = (token: string): string => `AUTHORIZATION: basic ${token}`

/** Plants all canaries. */
export function plantCanaries(scene: Scene): Planted {
  const tail = randomBytes(8).toString('hex')
  const names: string[] = []
  const token = (name: string): string => {
    names.push(name)
    return `${mark}-${name}-${tail}`
  }
  const { git, workspace, home, temp } = scene
  const paths: string[] = [join(workspace, '.git/config'), join(workspace, '.git/modules/library/config')]
  const write = (path: string, text: string): void => {
    paths.push(join(scene.base, path))
    scene.write(path, text)
  }
  const local = (path: string, text: string): void => write(join('work/project/project', path), text)

  // Git's secrets, among them the token in both forms in which CI checkouts leave it.
  git(workspace, 'config', 'http.https://github.com/.extraheader', header(token('checkout-header')))
  const included = join(temp, 'git-credentials-3b1f.config')
  write(
    'work/_temp/git-credentials-3b1f.config',
    `[http "https://github.com/"]\n\textraheader = ${header(token('checkout-include'))}\n`,
  )
  git(workspace, 'config', `includeIf.gitdir:${workspace}/.git.path`, included)
  git(
    workspace,
    'config',
    'includeIf.gitdir:/github/workspace/.git.path',
    '/github/runner_temp/git-credentials-3b1f.config',
  )
  git(workspace, 'config', `url.https://x-access-token:${token('instead-of')}@github.com/.insteadOf`, 'git@github.com:')
  git(workspace, 'remote', 'add', 'far', `https://me:${token('remote-url')}@example.org/a/b`)
  git(join(workspace, 'library'), 'config', 'http.extraheader', header(token('submodule-header')))
  git(join(workspace, 'nested/repository'), 'config', 'http.extraheader', header(token('nested-header')))
  git(workspace, 'config', 'credential.helper', `store --file=${join(home, 'my-logins')}`)
  write('home/my-logins', `https://me:${token('helper-file')}@example.org\n`)
  git(workspace, 'config', 'http.cookieFile', join(home, 'my-cookies'))
  write('home/my-cookies', `example.org\tTRUE\t/\tTRUE\t0\tid\t${token('cookie-file')}\n`)
  local(
    '.git/FETCH_HEAD',
    `${'0'.repeat(40)}\tnot-for-merge\tbranch 'x' of https://me:${token('fetch-head')}@example.org/a/b\n`,
  )
  write(
    'home/.gitconfig',
    `[url "https://${token('global-instead-of')}@github.com/"]\n\tinsteadOf = gh:\n[http]\n\textraheader = ${header(token('global-header'))}\n`,
  )
  write('home/.git-credentials', `https://me:${token('credential-store')}@github.com\n`)
  write('home/.config/git/credentials', `https://me:${token('credential-store-xdg')}@github.com\n`)

  // Files in which programs keep secrets.
  for (const [path, name] of [
    ['.netrc', 'netrc'],
    ['.docker/config.json', 'docker'],
    ['.npmrc', 'npmrc-home'],
    ['.cargo/credentials.toml', 'cargo'],
    ['.config/pip/pip.conf', 'pip'],
    ['.pypirc', 'pypirc'],
    ['.config/gh/hosts.yml', 'gh'],
    ['.aws/credentials', 'aws'],
    ['.config/gcloud/application_default_credentials.json', 'gcloud'],
    ['.kube/config', 'kube'],
    ['.ssh/id_ed25519', 'ssh'],
    ['.gnupg/private-keys-v1.d/0.key', 'gnupg'],
    ['.vault-token', 'vault'],
    ['.m2/settings.xml', 'maven'],
    ['.codex/auth.json', 'codex'],
    ['.claude/.credentials.json', 'claude'],
    ['.bash_history', 'history'],
    ['.local/state/portcullis/sessions/old/rollout.jsonl', 'old-session'],
  ] as const)
    write(join('home', path), `machine example.org login me password ${token(name)}\n`)
  local('.npmrc', `//registry.npmjs.org/:_authToken=${token('npmrc-workspace')}\n`)
  local('.yarnrc.yml', `npmAuthToken: ${token('yarnrc-workspace')}\n`)
  local('gha-creds-0a1b.json', `{"type":"external_account","client_secret":"${token('gha-creds')}"}\n`)

  // Files that the steps of a job leave for each other.
  write('work/_temp/1b2c.sh', `curl -H 'Authorization: Bearer ${token('temp-script')}' https://example.org\n`)
  write('work/_temp/_runner_file_commands/set_env_1', `DEPLOY=${token('temp-env')}\n`)
  write('work/_temp/.npmrc', `//registry.npmjs.org/:_authToken=${token('npmrc-moved')}\n`)

  scene.write('work/project/project/notes.txt', `for everybody, ${mark}-${control}-${tail}\n`)
  const onCommandLine = token('command-line')
  const child = spawn('sh', ['-c', 'sleep 900; :', onCommandLine], {
    stdio: 'ignore',
    env: { PATH: '/usr/bin:/bin', HOST_WORD: token('host-environ') },
  })
  return {
    names,
    paths,
    env: {
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      RUNNER_TEMP: temp,
      GITHUB_ENV: join(temp, '_runner_file_commands/set_env_1'),
      GITHUB_TOKEN: token('github-token'),
      ACTIONS_RUNTIME_TOKEN: token('actions-runtime'),
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: token('actions-id'),
      ACTIONS_RESULTS_URL: `https://results.example.org/${token('actions-url')}/`,
      'INPUT_DEPLOY-WITH': token('input'),
      DATABASE_URL: `postgres://me:${token('database')}@localhost/x`,
      NPM_CONFIG_USERCONFIG: join(temp, '.npmrc'),
    },
    close: () => child.kill('SIGKILL'),
  }
}

/** The names of the canaries that a text contains as `CANARY-name` or, as `findCanaries` prints them, as `seen-name`. The control is left out. */
export function canariesIn(text: string): readonly string[] {
  const found = [...text.matchAll(/(?:CANARY|seen)-([a-z0-9-]+?)(?:-[0-9a-f]{16})?(?![a-z0-9-])/g)].map(
    ([, name = '']) => name,
  )
  return [...new Set(found)].filter((name) => name !== control).sort()
}
