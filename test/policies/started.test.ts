import { describe, expect, test } from 'vitest'
import { decide } from './decisions.ts'

/** The decisions about a line in the modes `never` and `on-failure` if a rule forbids the commands that begin with `pattern`. */
function decideForbidden(line: string, ...pattern: readonly string[]): readonly string[] {
  const rules = `prefix_rule(pattern = ${JSON.stringify(pattern)}, decision = "forbidden")`
  return (['never', 'on-failure'] as const).map((mode) => decide(line, { rules, mode }))
}

describe('a command is judged as its program reads it', () => {
  test.each([
    ['docker container run x', ['docker', 'run']],
    ['docker --context x container run y', ['docker', 'run']],
    ['podman container exec c ls', ['podman', 'exec']],
    ['docker image push x', ['docker', 'push']],
    ['docker image rm x', ['docker', 'rmi']],
    ['docker run x', ['docker', 'container', 'run']],
    ['pip3 install x', ['pip', 'install']],
    ['pip3.12 install x', ['pip', 'install']],
    ['cargo +stable publish', ['cargo', 'publish']],
    ['yarn', ['yarn', 'install']],
    ['yarn --frozen-lockfile', ['yarn', 'install']],
    ['bundle', ['bundle', 'install']],
  ])('%s', (line, pattern) => {
    expect(decideForbidden(line, ...pattern)).toEqual(['deny', 'deny'])
  })

  test.each([
    ['yarn build', ['yarn', 'install']],
    ['docker image ls', ['docker', 'run']],
    ['docker container ls', ['docker', 'run']],
  ])('and nothing else: %s', (line, pattern) => {
    expect(decideForbidden(line, ...pattern)).toEqual(['allow', 'allow'])
  })
})

describe('a rule forbids commands that another command starts through its arguments', () => {
  test.each([
    "runuser -c 'git push -q o HEAD' root",
    "shopt -s expand_aliases\nalias p='git push -q o HEAD'\np",
    'git bisect start HEAD HEAD~1 -q; git bisect run git push -q o HEAD',
    "git difftool -y -x 'git push -q o HEAD; true' HEAD~1",
    "git grep -O'git push -q o HEAD; true' a",
    "git -c core.fsmonitor='git push -q o HEAD; true' status",
    "git -c core.editor='git push -q o HEAD; true' commit --allow-empty",
    `awk 'BEGIN{system("git push -q o HEAD")}'`,
    `awk 'BEGIN{system("git pu" "sh")}'`,
    "sed '1e git push -q o HEAD' f",
    "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='git push -q o HEAD' .",
    '. <(echo git push -q o HEAD)',
    'bash <(echo git push -q o HEAD)',
    'source /dev/stdin <<< "git push"',
    'git subtree push -P d o m',
    'git config x.y "$PWD"; git for-each-repo --config=x.y push -q o HEAD',
    'git config alias.p push; git p',
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p',
    'env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0="push -q" git p',
    'export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push; git p',
    `GIT_CONFIG_PARAMETERS="'alias.p=push'" git p`,
    `GIT_CONFIG_PARAMETERS="'alias.p'='push'" git p`,
    'V=push git --config-env=alias.p=V p',
    'V=push git --config-env alias.p=V p',
    "git config alias.p '!git push'",
    'fd -x git push',
    'docker exec x git push',
    "docker exec x sh -c 'git push'",
    'kubectl exec x -- git push',
    'git submodule foreach git push',
    "git submodule foreach 'git push'",
    "git rebase -x 'git push' main",
    'npx git push',
    'npm exec -- git push',
    "git filter-branch --tree-filter 'git push'",
    `python3 -c 'import os; os.system("git push")'`,
    `node -e 'require("child_process").execFileSync("git", ["push"])'`,
    `perl -e 'exec "g" . "it"; # git'`,
    "python3 - <<'E'\nimport os; os.system('git push')\nE",
    `echo 'import os; os.system("git push")' | python3`,
    "GIT_EDITOR='git push; true' git commit --amend",
    "export GIT_EDITOR='git push; true'; git commit",
    'docker exec x /usr/lib/git-core/git-push',
    `npx ${'git '.repeat(70)}push`,
  ])('git push: %s', (line) => expect(decideForbidden(line, 'git', 'push')).toEqual(['deny', 'deny']))

  test.each([
    [['npm', 'publish'], 'npm exec -- npm publish'],
    [['npm', 'publish'], 'npx npm publish'],
    [['npm', 'publish'], 'corepack npm publish'],
    [['npm', 'publish'], 'yarn npm publish'],
    [['npm', 'run', 'release'], 'npm exec -- npm run release'],
    [['curl'], 'git -c core.pager=curl log'],
    [['curl'], 'PAGER=curl git log'],
    [['curl'], 'tar -cf x --checkpoint-action=exec=curl .'],
    [['curl'], 'git grep -Ocurl a'],
  ])('%j: %s', (pattern, line) => expect(decideForbidden(line, ...pattern)).toEqual(['deny', 'deny']))
})

describe('a command that only names the forbidden one is not forbidden', () => {
  test.each([
    'git commit -m "git push later"',
    "git commit -F - <<'E'\ngit push\nE",
    'git stash push -m x',
    'git add -A && git commit -m x',
    'git log --grep "git push"',
    'grep -rn "git push" .',
    "cat > notes.md <<'E'\ngit push\nE",
    'npm run push',
    'npm install simple-git',
    'npm test -- --run push',
    'docker build -t git .',
    'apt-get install -y git',
    'node scripts/git-push.js',
    'python3 -m pytest tests/test_git.py',
    'curl -fsSL https://github.com/git/git -o x',
    'git rebase main',
    'git submodule update --init',
    'git log --oneline | node count.js',
    'gh pr create --title "Fix git push"',
    'MODE=push npm test',
    "sed -i 's/git push/git pull/' README.md",
    "awk '/git push/ {print $1}' log",
    'source .venv/bin/activate && pytest -q',
    'bash scripts/test.sh',
  ])('git push: %s', (line) => expect(decideForbidden(line, 'git', 'push')).toEqual(['allow', 'allow']))
})
