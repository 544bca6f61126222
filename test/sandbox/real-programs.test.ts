import { existsSync, readdirSync } from 'node:fs'
import process from 'node:process'
import { describe, expect } from 'vitest'
import { openSandbox, parsePolicy, type Backend, type Sandbox, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { needsPrograms, testUnless } from '../support/needs.ts'
import { ensureImage, image, imageRoots } from './docker-image.ts'
import { closeLater, run, temporaryDirectory, testInBubblewrap, testInDocker } from './helpers.ts'

type Program = {
  readonly name: string
  readonly needs: readonly string[]
  readonly script: string
  /** Lines that the script prints, among others. */
  readonly says: readonly (string | RegExp)[]
  readonly policy?: Partial<SandboxPolicyInput>
  /** Whether the program refuses to run as root, as which commands run in docker if the caller is root. */
  readonly notAsRoot?: true
}

const overrun = `#include <stdlib.h>
int main(void) { volatile char *p = malloc(3); p[5] = 1; return 0; }`

const source = (file: string, text: string): string => `cat > ${file} <<'end'\n${text}\nend\n`

/** The directory of PostgreSQL's own programs, which Debian doesn't put into PATH. */
const postgres = existsSync('/usr/lib/postgresql')
  ? `/usr/lib/postgresql/${readdirSync('/usr/lib/postgresql').at(-1)}/bin`
  : '/usr/bin'

const programs: readonly Program[] = [
  {
    name: 'gdb stops a program, reads and changes its memory, and lets it end',
    needs: ['gcc', 'gdb'],
    script: `${source('a.c', '#include <stdio.h>\nint twice(int x) { return x * 2; }\nint main(void) { printf("result %d\\n", twice(21)); return 0; }')}
      gcc -g -o a a.c && gdb -q -batch -ex 'break twice' -ex run -ex 'print x' -ex 'set var x=4' -ex cont ./a 2>&1`,
    says: ['$1 = 21', 'result 8'],
  },
  {
    name: 'strace follows a program and its children',
    needs: ['strace'],
    script: `strace -f -e trace=execve sh -c 'cat /dev/null; true' 2>&1`,
    says: [/execve\("\/(?:usr\/)?bin\/cat"/, /exited with 0/],
  },
  {
    name: 'valgrind finds an overrun',
    needs: ['gcc', 'valgrind'],
    script: `${source('a.c', overrun)} gcc -g -o a a.c && valgrind -q ./a 2>&1`,
    says: [/Invalid write of size 1/],
  },
  {
    name: 'the sanitizers of gcc work, and a program runs without randomized addresses',
    needs: ['gcc', 'setarch'],
    script: `${source('a.c', overrun)} gcc -fsanitize=address -o a a.c && ./a 2>&1
      gcc -fsanitize=thread -o b a.c && ./b && echo thread
      gcc -fsanitize=leak -o c a.c && ./c 2>&1
      setarch -R true && echo fixed`,
    says: [/heap-buffer-overflow/, 'thread', /detected memory leaks/, 'fixed'],
  },
  {
    name: 'PostgreSQL makes a database and serves it',
    needs: [`${postgres}/initdb`],
    notAsRoot: true,
    script: `bin=${postgres}
      $bin/initdb -D db -U me >/dev/null && $bin/pg_ctl -D db -o '-p 7778 -c unix_socket_directories=' -l log -w start >/dev/null
      $bin/psql -At -h 127.0.0.1 -p 7778 -U me postgres -c 'select 6 * 7'; $bin/pg_ctl -D db stop -m fast`,
    says: ['42', 'server stopped'],
  },
  {
    name: 'Redis serves and saves',
    needs: ['redis-server'],
    script: `redis-server --port 7779 --dir . > log & until redis-cli -p 7779 ping 2>/dev/null; do sleep 0.1; done
      redis-cli -p 7779 set a b; redis-cli -p 7779 save; redis-cli -p 7779 get a; redis-cli -p 7779 shutdown nosave`,
    says: ['PONG', 'OK', 'b'],
  },
  {
    name: 'SQLite writes with a log ahead',
    needs: ['sqlite3'],
    script: `sqlite3 x.db 'pragma journal_mode=wal; create table t(a); insert into t values(7); select * from t'`,
    says: ['wal', '7'],
  },
  {
    name: 'Java runs a source file with threads',
    needs: ['java'],
    script: `${source('A.java', 'public class A { public static void main(String[] a) throws Exception { var t = new Thread(() -> System.out.println("thread")); t.start(); t.join(); } }')}
      java -XX:+UseNUMA A.java`,
    says: ['thread'],
  },
  {
    name: 'Python starts processes, pools and event loops',
    needs: ['/usr/bin/python3'],
    script: `/usr/bin/python3 -c '
import asyncio, multiprocessing, os, subprocess, tempfile
print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout.strip())
with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(abs, [-1, 2]))
print(asyncio.run(asyncio.sleep(0, "loop")))
'`,
    says: ['child', '[1, 2]', 'loop'],
  },
  {
    name: 'Node uses threads, copies, watches and child processes',
    needs: [process.execPath],
    script: `echo x > a; '${process.execPath}' -e '
      const fs = require("fs"), { Worker } = require("worker_threads")
      fs.copyFileSync("a", "b"); fs.watch(".").close()
      console.log(require("child_process").execSync("echo child").toString().trim())
      new Worker("console.log(\\"worker\\")", { eval: true })'`,
    says: ['child', 'worker'],
  },
  {
    name: 'Perl forks, and awk, sed, find, tar and make work',
    needs: ['perl', 'make', 'tar'],
    script: `perl -e 'wait if fork; print "$$\\n" x 0, "perl\\n"' | sort -u; printf 'all:\\n\\t@echo made\\n' > Makefile; make
      mkdir d; echo y > d/f; ln d/f d/g; ln -s f d/h; mkfifo d/p; tar c d | tar x -O d/f; find d -type p; mv d e; sed -i s/y/z/ e/f; cat e/f`,
    says: ['perl', 'made', 'y', 'd/p', 'z'],
  },
  {
    name: 'git commits, packs and checks',
    needs: ['git'],
    script: `git init -q; echo a > a; git add a; git -c user.name=a -c user.email=a@b.c commit -qm one; git gc -q; git fsck && git log --format=%s`,
    says: ['one'],
  },
  {
    name: 'Go builds and runs a program with goroutines',
    needs: ['go'],
    script: `${source('a.go', 'package main\nimport "fmt"\nfunc main() { c := make(chan string); go func() { c <- "routine" }(); fmt.Println(<-c) }')}
      HOME=$PWD GOFLAGS=-mod=mod go run a.go`,
    says: ['routine'],
  },
  {
    name: 'Chromium runs a script on a page',
    needs: ['chromium'],
    script: `HOME=/tmp chromium --headless --no-sandbox --disable-gpu --user-data-dir=/tmp/chromium --dump-dom 'data:text/html,<p id=x>hi</p><script>x.textContent = "answer " + 6 * 7</script>' 2>&1`,
    says: [/answer 42/],
    policy: { unixSockets: true },
  },
]

const inBackend: readonly (readonly [Backend, typeof testInBubblewrap, Partial<SandboxPolicyInput>, object])[] = [
  ['bubblewrap', testInBubblewrap, {}, {}],
  ['docker', testInDocker, { readableRoots: [...imageRoots, '/etc', '/opt'] }, { image }],
]

describe.each(inBackend)('in %s', (backend, testHere, policy, options) => {
  const open = async (more: Partial<SandboxPolicyInput> = {}): Promise<Sandbox> => {
    if (backend === 'docker') ensureImage()
    const workspace = await temporaryDirectory()
    const parsed = parsePolicy({ mode: 'workspace-write', workspace, ...policy, ...more })
    return closeLater(await openSandbox(parsed, { backend, ...options }))
  }

  const isRoot = backend === 'docker' && process.geteuid?.() === 0
  for (const { name, needs, script, says, policy: more } of programs.filter((each) => !isRoot || !each.notAsRoot)) {
    testUnless(needsPrograms(...needs) ? name : undefined, testHere)(name, async () => {
      const { stdout, stderr } = await run(await open(more), script)
      for (const wanted of says) {
        const isThere = stdout
          .split('\n')
          .some((line) => (typeof wanted === 'string' ? line === wanted : wanted.test(line)))
        expect(isThere ? 'said' : { missing: wanted, stdout, stderr }).toBe('said')
      }
    })
  }
})
