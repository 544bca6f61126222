import type { Row } from './doctor-row.ts'

/** The facts about git. */
export type GitFacts = {
  /** The version as git prints it, such as `git version 2.39.5`; undefined if git can't be run. */
  readonly version: string | undefined
  /** The repository's root; undefined if the directory is in no repository. */
  readonly root: string | undefined
  readonly workspace: string
  /** The name that git gives to the author of commits: `user.name` in its configuration, or `GIT_AUTHOR_NAME`. Undefined if none is set. */
  readonly name: string | undefined
  readonly email: string | undefined
  /** Whether the command line allows a run outside any repository. */
  readonly anywhere: boolean
}

/**
 * The rows about git itself, the repository, and the author of commits. By default, a run needs a repository. Git and an author are needed only by some
 * features and commands.
 */
export function gitRows({ version, root, workspace, name, email, anywhere }: GitFacts): readonly Row[] {
  return [
    version === undefined
      ? {
          group: 'git',
          check: 'program',
          state: 'note',
          found: 'no working git was found outside the workspace',
          next: 'Install git (apt-get install git): it is needed for commands that use git, and to count changed files.',
        }
      : { group: 'git', check: 'program', state: 'ok', found: version },
    root === undefined
      ? {
          group: 'git',
          check: 'repository',
          state: anywhere ? 'note' : 'missing',
          found: `${workspace} is not in a git repository, so the changes of a run could not be reverted`,
          next: 'Run git init, choose another directory with -C, or pass --skip-git-repo-check.',
        }
      : { group: 'git', check: 'repository', state: 'ok', found: root },
    ...(version === undefined ? [] : [identityRow(name, email)]),
  ]
}

function identityRow(name: string | undefined, email: string | undefined): Row {
  const row = { group: 'git', check: 'identity' } as const
  if (name !== undefined && email !== undefined) return { ...row, state: 'ok', found: `${name} <${email}>` }
  const unset = [...(name === undefined ? ['user.name'] : []), ...(email === undefined ? ['user.email'] : [])]
  return {
    ...row,
    state: 'note',
    found: `${unset.join(' and ')} not set, so git commit fails`,
    next: unset.map((key) => `Run git config --global ${key} "<value>".`).join(' '),
  }
}
