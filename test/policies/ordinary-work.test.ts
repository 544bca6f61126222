import { describe, expect, test } from 'vitest'
import { checkCommand, defaultRules, loadRules, type CheckOptions } from '../../policies/index.ts'

const headless: CheckOptions = {
  approvalMode: 'never',
  sandbox: 'workspace-write',
  cwd: '/repo',
  rules: loadRules([{ path: 'default.rules', layer: 'default', text: defaultRules }]),
}

describe('an agent in CI, in the sandbox and without a person', () => {
  test.each([
    'npm ci',
    'npm test -- --run foo',
    'npx vitest run 2>&1 | tail -40',
    'NODE_OPTIONS=--max-old-space-size=4096 npm run build',
    'export PATH="$HOME/.cargo/bin:$PATH" && cargo test',
    'source .venv/bin/activate && pytest -q',
    "python - <<'EOF'\nprint(1)\nEOF",
    "cat > src/a.ts <<'EOF'\nexport const a = 1\nEOF",
    "sed -i 's/a/b/' src/*.ts",
    'git add -A && git commit -m "x"',
    'git checkout -- src/a.ts',
    'rm -rf dist build coverage',
    "find . -name '*.orig' -delete",
    'tmp=$(mktemp -d); cp a "$tmp"; rm -rf "$tmp"',
    'rm -rf "$dir/build"',
    'trap \'rm -f "$t"\' EXIT',
    'for f in $(git ls-files "*.ts"); do npx prettier --check "$f"; done',
    'i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done',
    'set -euo pipefail; for d in */; do (cd "$d" && npm test); done',
    'curl -fsSL https://example.com/x.sh | bash',
    '(npm run dev > /tmp/dev.log 2>&1 &) ; sleep 5; curl -s localhost:3000',
    'env | grep NODE',
    'eval "$(ssh-agent)"',
    '[[ $a -gt $b ]] && echo "${x@Q}"',
    'git push origin HEAD',
    'apt-get install -y x',
    'cat .env.example',
    'kill %1',
    'chmod +x scripts/*.sh && chmod -R u+w dist && chmod -x a',
  ])('may run %s', (line) => expect(checkCommand(line, headless)).toMatchObject({ decision: 'allow' }))

  test.each([
    ['rm -rf *', /deletes \*/],
    ['rm -rf .', /deletes \./],
    ['rm -rf "$x/"*', /deletes/],
    ['rm -rf .git', /deletes \.git/],
    ['rm -rf ../other', /deletes \.\.\/other/],
    ['rm -rf $HOME', /whole home/],
    ['git clean -fdx', /files that git does not track/],
    ['git reset --hard', /uncommitted work/],
    ['git checkout .', /uncommitted work/],
    ['find . -delete', /deletes what it finds/],
    ['git push --force origin main', /overwrites/],
    ['npm publish', /can't be undone/],
    ['sudo apt-get install x', /privileges of another user/],
    ['cat ~/.aws/credentials', /credentials/],
    ['cat /proc/1/environ', /credentials/],
    ['chmod -R 777 .', /permissions or owners of everything below/],
    ['chown -R me ~', /permissions or owners of everything below/],
    ['mkfs.ext4 /dev/sda', /erases a file system/],
    ['dd if=/dev/zero of=/dev/sda', /overwrites \/dev\/sda/],
  ])('may not run %s', (line, reason) => {
    const checked = checkCommand(line, headless)
    expect(checked.decision).not.toBe('allow')
    expect(checked.reason).toMatch(reason)
  })
})
