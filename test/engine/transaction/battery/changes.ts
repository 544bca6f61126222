import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'

/** One kind of change that a run makes, as a shell command. */
export type Change = {
  readonly name: string
  readonly command: string
  /** `never-lands` if the result isn't landed, `blocks` if it prevents the run's changes from landing. If undefined, the result is landed. */
  readonly apart?: 'never-lands' | 'blocks'
  /**
   * The strategy whose result differs from that of a run without a transaction: an overlay breaks hard links when one of them is written, as its
   * documentation says.
   */
  readonly notBy?: 'overlay'
}

const commit = 'git -c user.name=x -c user.email=x@x commit -q'
const dates = 'export GIT_AUTHOR_DATE="2026-01-01T00:00:00Z" GIT_COMMITTER_DATE="2026-01-01T00:00:00Z"'
const node = JSON.stringify(process.execPath)

/** All kinds of change, each with its own files, so that they can be made separately or together. */
export const changes: readonly Change[] = [
  { name: 'write', command: 'echo new > written.txt' },
  { name: 'overwrite', command: 'echo other > overwrite.txt' },
  { name: 'append', command: 'echo more >> append.txt' },
  { name: 'truncate', command: ': > truncate.txt' },
  { name: 'write in the middle', command: 'printf XX | dd of=middle.txt bs=1 seek=2 conv=notrunc 2>/dev/null' },
  { name: 'edit in place', command: 'sed -i s/one/two/ edit.txt' },
  { name: 'the same bytes again', command: 'cp same.txt same.new; mv same.new same.txt' },
  { name: 'touch', command: 'touch -d 2001-01-01 touch.txt' },
  { name: 'chmod', command: 'chmod 755 mode.txt; chmod 700 mode-dir' },
  // The sandbox refuses this command.
  { name: 'set-user-id', command: 'chmod 4755 setuid 2>/dev/null || true' },
  { name: 'remove', command: 'rm remove.txt' },
  { name: 'remove a directory', command: 'rm -r remove-dir' },
  { name: 'symlink', command: 'ln -s nowhere new-link; ln -sfn elsewhere link' },
  { name: 'symlink to file and back', command: 'rm link-2; echo file > link-2; rm file-2; ln -s link-2 file-2' },
  { name: 'pipe', command: 'mkfifo pipe', apart: 'never-lands' },
  {
    name: 'socket',
    command: `${node} -e 'require("net").createServer().listen("socket", () => process.kill(process.pid, "SIGKILL"))' 2>/dev/null || true`,
    apart: 'never-lands',
  },
  { name: 'rename a file', command: 'mv rename.txt renamed.txt' },
  { name: 'rename a directory', command: 'mv rename-dir renamed-dir' },
  { name: 'directory replaced by file', command: 'rm -r dir-to-file; echo file > dir-to-file' },
  { name: 'file replaced by directory', command: 'rm file-to-dir; mkdir -p file-to-dir/d; echo x > file-to-dir/d/x' },
  { name: 'directory replaced by another', command: 'rm -r opaque; mkdir opaque; echo new > opaque/new' },
  { name: 'hard link', command: 'ln hard.txt hard-2.txt; echo both >> hard.txt' },
  { name: 'write through a hard link', command: 'echo both >> linked-1.txt', notBy: 'overlay' },
  { name: 'sparse file', command: 'truncate -s 40M sparse; echo end >> sparse' },
  { name: 'sparse 2 GB', command: 'truncate -s 2G sparse-2; echo end >> sparse-2' },
  {
    name: 'odd names',
    command: 'echo x > "new\nline"; echo x > "q\\"uo\'te \\\\ t\tab"; echo x > ./-n; echo x > "ü €"; mkdir "a b"',
  },
  { name: 'a name that is not UTF-8', command: 'echo x > "$(printf \'\\377\')"', apart: 'blocks' },
  { name: 'binary', command: 'printf "\\0\\1\\377" > binary.bin; : > empty' },
  {
    name: 'directories',
    command: 'mkdir -p empty-1/empty-2; rm was-empty/x; mkdir -p a/b/c/d/e/f; echo x > a/b/c/d/e/f/g',
  },
  { name: 'many files', command: 'mkdir many; for i in $(seq 300); do echo $i > many/$i; done' },
  { name: 'what git ignores', command: 'mkdir -p out/new; echo x > out/new/x; rm out/old; echo log > a.log' },
  { name: 'what other programs obey', command: 'echo x > .git/hooks/pre-commit || true', apart: 'never-lands' },
  {
    name: 'database with a journal',
    command:
      'sqlite3 data.db "pragma journal_mode=wal; create table t(x); insert into t values(1); insert into t values(2);" >/dev/null',
  },
  { name: 'package', command: 'npm install --offline --no-audit --no-fund --silent ./package >/dev/null' },
  { name: 'commit', command: `${dates}; echo x > committed.txt; git add committed.txt; ${commit} -m second` },
]

const files: Readonly<Record<string, string>> = {
  '.gitignore': 'out/\n*.log\n*.db*\nnode_modules/\n',
  'overwrite.txt': 'o\n',
  'append.txt': 'a\n',
  'truncate.txt': 't\n',
  'middle.txt': 'abcdef\n',
  'edit.txt': 'one\n',
  'same.txt': 'same\n',
  'touch.txt': 't\n',
  'mode.txt': 'm\n',
  'mode-dir/x': 'x\n',
  setuid: 's\n',
  'remove.txt': 'r\n',
  'remove-dir/d/x': 'x\n',
  'file-2': 'f\n',
  'rename.txt': 'r\n',
  'rename-dir/d/x': 'x\n',
  'dir-to-file/x': 'x\n',
  'file-to-dir': 'f\n',
  'opaque/old': 'o\n',
  'opaque/d/old': 'o\n',
  'hard.txt': 'h\n',
  'linked-1.txt': 'l\n',
  'was-empty/x': 'x\n',
  'out/old': 'o\n',
  'package.json': '{"name":"root","version":"1.0.0"}\n',
  'package/package.json': '{"name":"local","version":"1.0.0"}\n',
  'package/index.js': 'module.exports = 1\n',
}

/** Creates the tree to change: a repository with one commit. */
export function makeTree(directory: string): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const script = [
    'ln -s overwrite.txt link; ln -s append.txt link-2; ln linked-1.txt linked-2.txt',
    // All files get an early time, because git treats a file as unchanged without reading it only if the file is older than the index.
    'find . -exec touch -h -d 2020-01-01 {} +',
    `git init -q; git add .; ${commit} -m first`,
  ].join('; ')
  execFileSync('sh', ['-c', script], { cwd: directory })
}
