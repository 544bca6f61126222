import type { Row } from './doctor-row.ts'

/** The git that was found. */
export type GitFacts = {
  /** The version as git prints it, `git version 2.39.5`; undefined where no git answers. */
  readonly version: string | undefined
  /** The repository's root; undefined outside any. */
  readonly root: string | undefined
  readonly workspace: string
  /** What the user's configuration, the repository's or the environment say. */
  readonly name: string | undefined
  readonly email: string | undefined
  /** Whether a run outside any repository was allowed. */
  readonly anywhere: boolean
}

/** git itself, the repository, and who commits. A run needs the repository; the rest is for its commands. */
export function gitRows({ version, root, workspace, name, email, anywhere }: GitFacts): readonly Row[] {
  return [
    version === undefined
      ? {
          group: 'git',
          check: 'program',
          state: 'note',
          found: 'there is no git that answers outside the workspace',
          next: 'Install git (apt-get install git): commands, worktrees and the count of changed files want it.',
        }
      : { group: 'git', check: 'program', state: 'ok', found: version },
    root === undefined
      ? {
          group: 'git',
          check: 'repository',
          state: anywhere ? 'note' : 'missing',
          found: `${workspace} is in none, so what a run changes could not be taken back`,
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
    found: `${unset.join(' and ')} not set: git commit fails`,
    next: unset.map((key) => `git config --global ${key} …`).join('; '),
  }
}
