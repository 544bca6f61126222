import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { secret, type Places } from './places.ts'
import type { Probe } from './probes.ts'

/**
 * The attempts of a second attack. They were derived only from the guarantees in the README, and are of kinds that the first attack did not include.
 */

const never = { 'workspace-write': 'blocked', 'read-only': 'blocked' } as const

const holds = (path: string, text: string): boolean => existsSync(path) && readFileSync(path, 'utf8').includes(text)

/** A probe that runs a Python program, which tries to write to a file outside the workspace. */
function onFile(name: string, program: (file: string) => string): Probe {
  return {
    name,
    script: ({ outside }) => `python3 - <<'END'\n${program(join(outside, 'file'))}\nEND`,
    seen: ({ outside }) => holds(join(outside, 'file'), 'planted'),
    expect: never,
  }
}

/** A probe that runs a script, which tries to plant settings in the file `at` in the workspace. */
function settings(name: string, script: string, at: string): Probe {
  return { name, script: () => script, seen: ({ workspace }) => holds(join(workspace, at), 'planted'), expect: never }
}

/** Probes of descriptors, of mounts, and of protected names that appear only while a command is running. */
export const laterProbes: readonly Probe[] = [
  onFile(
    'open anew by /proc what was opened to read',
    (file) => `import os
f = os.open('${file}', os.O_RDONLY)
os.write(os.open('/proc/self/fd/%d' % f, os.O_RDWR), b'planted')`,
  ),
  onFile(
    'hand a directory to oneself over a socket',
    (file) => `import array, os, socket
a, b = socket.socketpair()
d = os.open(os.path.dirname('${file}'), os.O_PATH)
a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [d]))])
at = array.array('i', b.recvmsg(1, 100)[1][0][2][:4])[0]
os.write(os.open('file', os.O_WRONLY, dir_fd=at), b'planted')`,
  ),
  onFile(
    'clear the read-only flag of all mounts',
    (file) => `import ctypes, os
call = ctypes.CDLL(None).syscall
flags = (ctypes.c_uint64 * 4)(0, 1, 0, 0)
call(442, os.open('/', os.O_RDONLY), b'', 0x9000, flags, 32)
open('${file}', 'w').write('planted')`,
  ),
  {
    name: 'copy a key in the kernel',
    script: ({ home }) => `python3 -c "
import os
to = os.open('copy', os.O_CREAT | os.O_RDWR)
os.copy_file_range(os.open('${home}/.netrc', os.O_RDONLY), to, 100)
print(open('copy').read())" | grep -q ${secret} && echo GOT`,
    expect: never,
  },
  settings(
    'rename a directory to a name of settings',
    'mkdir -p x; echo planted > x/settings.json; mv x .claude',
    '.claude/settings.json',
  ),
  settings(
    'link settings from a file of another name',
    'echo planted > f.json; mkdir -p linked/.vscode; ln f.json linked/.vscode/tasks.json',
    'linked/.vscode/tasks.json',
  ),
  {
    name: 'plant settings in three hundred directories',
    script: () =>
      'for i in $(seq 300); do mkdir -p many/$i/.claude; echo planted > many/$i/.claude/settings.json; done',
    seen: ({ workspace }: Places) =>
      Array.from({ length: 300 }, (_, at) => join(workspace, `many/${at + 1}/.claude/settings.json`)).some(existsSync),
    expect: never,
  },
]
