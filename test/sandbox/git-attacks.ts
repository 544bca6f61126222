import { spawnSync } from 'node:child_process'

/** The user and the group as which the host's git runs. Default: those of this process. */
type Identity = { readonly uid?: number; readonly gid?: number }

/** Runs the host's git in a directory: as a shell prompt does, to commit, and to continue a rebase. */
export function useOnHost(directory: string, identity: Identity = {}): void {
  for (const words of ['status', 'add -A', '-c user.name=a -c user.email=a@b commit -qm x', 'rebase --continue']) {
    const options = { cwd: directory, stdio: 'ignore', timeout: 10_000, ...identity } as const
    spawnSync('sh', ['-c', `GIT_EDITOR=true git ${words}`], options)
  }
}

/**
 * Shell functions: `evil` plants a program, and `repo` plants a repository that runs one. The planted program creates `sentinel` in the directory in
 * which the function was called.
 */
export const evil = `evil() { mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\\ntouch %s/sentinel\\n' "$PWD" > "$1"; chmod +x "$1"; }
  repo() { git init -q made; mkdir -p "$(dirname "$1")"; mv made/.git "$1"; rm -r made; evil hook; git --git-dir="$1" config core.fsmonitor "$PWD/hook"; git --git-dir="$1" config core.worktree "$PWD/sub"; }
  `

/** Ways to make the host's git run something: a name, the script that a command runs, and the directory in which git is used afterwards. */
export const gitAttacks: readonly (readonly [name: string, script: string, where: string])[] = [
  [
    'a .git file of two lines',
    'repo .git/objects/evil; mkdir -p "sub/A\nX"; printf "gitdir: A\\nX/../../.git/objects/evil\\n" > sub/.git',
    'sub',
  ],
  [
    'a .git file with a separator of lines in Unicode',
    'repo "$(printf "a\\342\\200\\250b")"; mkdir sub; printf "gitdir: ../a\\342\\200\\250b\\n" > sub/.git',
    'sub',
  ],
  [
    'a .git file by way of procfs',
    'repo evil.d; mkdir sub; printf "gitdir: /proc/self/cwd/../evil.d\\n" > sub/.git',
    'sub',
  ],
  ['a .git file without its last newline', 'repo evil.d; mkdir sub; printf "gitdir: ../evil.d" > sub/.git', 'sub'],
  [
    'a repository among the objects of another',
    'git init -q n; repo n/.git/objects/evil; mkdir sub; printf "gitdir: ../n/.git/objects/evil\\n" > sub/.git',
    'sub',
  ],
  [
    'a commondir with a space',
    'git init -q n; repo n/evil; mkdir -p "n/.git/worktrees/t/ .."; echo "ref: refs/heads/m" > n/.git/worktrees/t/HEAD; ln -s ../../../evil "n/.git/worktrees/t/ ../.."; printf " ../..\\n" > n/.git/worktrees/t/commondir; mkdir sub; echo "gitdir: $PWD/n/.git/worktrees/t" > sub/.git',
    'sub',
  ],
  [
    'a submodule called logs',
    'git init -q n; repo n/.git/modules/logs; mkdir sub; echo "gitdir: ../n/.git/modules/logs" > sub/.git',
    'sub',
  ],
  ['half a repository', 'evil sub/.git/hooks/pre-commit; cd sub', 'sub'],
  ['a directory that is not UTF-8', 'git init -q x; evil x/.git/hooks/pre-commit; mv x "$(printf "caf\\351")"', 'caf'],
  [
    'hooks by a path in an included file',
    'git init -q sub; evil h/pre-commit; echo "[core] hooksPath = $PWD/h" > sub/.git/inc; printf "[include] path = inc\\n" >> sub/.git/config',
    'sub',
  ],
  [
    'hooks by a path on the section’s line, with a comment',
    'git init -q sub; evil h/pre-commit; printf "[core] hooksPath = \\"%s/h\\" # x\\n" "$PWD" >> sub/.git/config',
    'sub',
  ],
  [
    'a filter in the config of a work tree',
    'git init -q sub; evil f; git -C sub config extensions.worktreeConfig true; git -C sub config --worktree filter.x.clean "$PWD/f"; echo "* filter=x" > sub/.gitattributes',
    'sub',
  ],
  [
    'an exec line of a rebase',
    'git init -q sub; cd sub; git config user.name a; git config user.email a@b; git commit -q --allow-empty -m a; git commit -q --allow-empty -m b; evil e; cd sub 2>/dev/null; GIT_SEQUENCE_EDITOR="sed -i 1ibreak" git rebase -qi HEAD~1 --keep-empty; echo "exec $PWD/e" >> .git/rebase-merge/git-rebase-todo',
    'sub',
  ],
]
