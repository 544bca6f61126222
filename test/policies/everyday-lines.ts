/** Commands as people and agents type them, each on its own. */
const commands: readonly string[] = [
  ...['ls -la', 'ls -lah src test', 'pwd', 'cat package.json', 'cat "docs/read me.md"', 'head -n 20 src/index.ts'],
  ...[
    'tail -f /var/log/app.log',
    'wc -l src/*.ts',
    'grep -rn "TODO" src',
    "grep -E 'a|b' file.txt",
    'rg -n --hidden foo',
  ],
  ...[
    'find . -name "*.ts" -not -path "./node_modules/*"',
    "find . -type f -exec grep -l 'x' {} \\;",
    'sort -u names.txt',
  ],
  ...[
    "sed -n '1,20p' README.md",
    "sed -i 's/foo/bar/g' src/a.ts",
    "awk '{print $1}' data.csv",
    "awk -F: '$3 > 10' /etc/passwd",
  ],
  ...[
    'git status',
    'git diff --stat HEAD~1',
    'git log --oneline -n 5',
    'git commit -m "fix: don\'t panic"',
    'git push origin main',
  ],
  ...[
    'git -C ../other pull --rebase',
    "git log --format='%h %s' | head",
    'git checkout -b feature/x',
    'git stash && git pull',
  ],
  ...[
    'npm ci',
    'npm test -- --watch=false',
    'npm run build --if-present',
    'npx tsc --noEmit -p .',
    'yarn add -D vitest',
  ],
  ...[
    'node -e "console.log(1 + 1)"',
    'node --test test/*.js',
    'python3 -m pytest -q',
    'python3 -c \'print("hi")\'',
    'pip install -r requirements.txt',
  ],
  ...[
    'make -j4 all',
    'cargo build --release',
    'go test ./...',
    'docker build -t app:latest .',
    'docker run --rm -v "$PWD":/w app',
  ],
  ...[
    'curl -fsSL https://example.com/install.sh',
    'curl -s -H "Accept: application/json" "$URL/v1/items?limit=10"',
    'wget -q -O - "$URL"',
  ],
  ...[
    'tar -czf out.tgz dist',
    'unzip -o a.zip -d out',
    'mkdir -p build/{a,b}',
    'cp -r src/. build/',
    'mv old.txt new.txt',
    'rm -rf build',
  ],
  ...[
    'chmod +x run.sh',
    'ln -sf ../a b',
    'touch .env.local',
    'echo "Hello, $USER"',
    "echo 'single $quoted'",
    'printf "%s\\n" one two',
  ],
  ...[
    'FOO=1 BAR="two words" ./run.sh --flag',
    'env NODE_ENV=test node app.js',
    'export PATH="$HOME/bin:$PATH"',
    'unset FOO',
  ],
  ...[
    'kill -9 1234',
    'ps aux',
    'df -h .',
    'du -sh node_modules',
    'date +%Y-%m-%d',
    'sleep 1',
    'which node',
    'command -v git',
  ],
  ...[
    "jq -r '.scripts | keys[]' package.json",
    'xargs -n1 echo',
    'tee -a log.txt',
    'true',
    'test -f a.txt',
    '[ -d src ]',
    'ssh host "uptime; df"',
  ],
  ...[
    'echo $((1 + 2))',
    'echo ${HOME:-/root}',
    'echo "${files[@]}"',
    'echo a\\ b',
    'ls ~/src',
    "echo $'tab\\there'",
    'echo {1..3}',
    'basename "$0" .sh',
  ],
]

/** Shapes in which people combine commands. `A` and `B` are commands. */
const shapes: readonly string[] = [
  ...['A', 'A | head -20', 'A 2>&1 | tee out.log', 'A > out.txt 2>/dev/null', 'A && B', 'A || echo failed', 'A; B'],
  ...['cd src && A', '(cd sub && A)', '{ A; B; }', 'if A; then B; fi', 'if ! A; then echo no >&2; exit 1; else B; fi'],
  ...[
    'for f in *.ts; do A; done',
    'while read -r line; do A; done < input.txt',
    'x=$(A); echo "$x"',
    'echo "got: $(A)"',
  ],
  ...[
    'A &\nwait',
    'time A',
    'set -euo pipefail\nA\nB',
    '# a comment\nA # and another',
    'A \\\n  && B',
    'case "$1" in start) A ;; *) B ;; esac',
  ],
  ...[
    'run() {\n  A\n}\nrun "$@"',
    'cat <<EOF | A\nsome text $(B)\nEOF',
    "cat <<'EOF' > note.txt\nnot $(run)\nEOF\nA",
    'diff <(A) <(B)',
  ],
  ...[
    'A < /dev/null >> log.txt',
    '[ -f a ] && A',
    '[[ -n "$x" ]] && A',
    'until A; do sleep 1; done',
    'for i in $(A); do echo "$i"; done',
  ],
]

/** Lines of everyday work: every command in every shape, with a second command if the shape combines two. */
export function everydayLines(): readonly string[] {
  return shapes.flatMap((shape, row) =>
    commands.map((command, at) => {
      const other = commands[(at * 7 + row * 3 + 1) % commands.length] ?? 'true'
      return shape.replace(/\b[AB]\b/g, (letter) => (letter === 'A' ? command : other))
    }),
  )
}
