import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { agentFiles } from '../agent-files.ts'
import type { Places } from '../battery/places.ts'
import type { Request } from './evaluator.ts'

/** The requests that a probe makes to the macOS kernel. The probe gets through if all are granted. `temp`: the run's private temporary directory. */
type Attempt = (places: Places, temp: string) => readonly Request[]

/** The path as the kernel compares it: symlinks are resolved as far as the path exists. */
function real(path: string): string {
  return existsSync(path) ? realpathSync.native(path) : join(real(dirname(path)), basename(path))
}

const read = (path: string): Request => ({ operation: 'file-read-data', path: real(path) })
const create = (path: string): Request => ({
  operation: 'file-write-create',
  path: join(real(dirname(path)), basename(path)),
})
const write = (path: string): Request =>
  existsSync(path) ? { operation: 'file-write-data', path: real(path) } : create(path)
const remove = (path: string): Request => ({ operation: 'file-write-unlink', path })
const rename = (from: string, to: string): readonly Request[] => [remove(from), create(to)]
const connect = (remote: string): Request => ({ operation: 'network-outbound', remote })

const init = (git: string): readonly Request[] => [
  ...[
    '',
    '/HEAD',
    '/config.lock',
    '/hooks',
    '/hooks/pre-commit.sample',
    '/info',
    '/info/exclude',
    '/objects',
    '/refs',
  ].map((name) => create(`${git}${name}`)),
  ...rename(`${git}/config.lock`, `${git}/config`),
]

/** The probes of the escape battery whose attempts a profile covers, as requests. The keys are the names of the probes. */
export const attempts: Readonly<Record<string, Attempt>> = {
  'write in the workspace': ({ workspace }) => [write(`${workspace}/new`)],
  'write a file for agents to read': ({ workspace }) => [write(`${workspace}/AGENTS.md`)],
  'write beside the workspace': ({ outside }) => [write(`${outside}/new`)],
  'write to a directory whose name begins like the workspace': ({ workspace }) => [write(`${workspace}-evil/new`)],
  'write through a symlink that was there': ({ workspace }) => [write(`${workspace}/link-to-outside/new`)],
  'write through a symlink made inside': ({ workspace, outside }) => [
    create(`${workspace}/made2`),
    write(`${outside}/file`),
  ],
  'hardlink a file from outside and write it': ({ workspace, outside }) => [
    { operation: 'file-link', path: `${outside}/file` },
    create(`${workspace}/hard`),
  ],
  'write in a directory outside that the command starts in': ({ outside }) => [write(`${outside}/started-here`)],
  'write to a file outside that is open for reading': ({ outside }) => [write(`${outside}/file`)],
  'write to /var/tmp': () => [write('/var/tmp/portcullis-battery')],
  "write to the host's /tmp": () => [write('/tmp/portcullis-battery')],
  'write to /etc': () => [write('/etc/portcullis-battery')],
  'write to ~/.bashrc': ({ home }) => [write(`${home}/.bashrc`)],
  'write to ~/.profile, which is absent': ({ home }) => [write(`${home}/.profile`)],
  'write to the private /tmp': (_, temp) => [write(`${temp}/x`)],
  'make a device or write in /dev': () => [create('/dev/new')],
  'move the workspace away': ({ workspace }, temp) => rename(workspace, `${temp}/workspace2`),
  'leave a set-user-id program behind': ({ workspace }) => [
    create(`${workspace}/suid`),
    { operation: 'file-write-setugid', path: `${workspace}/suid` },
  ],
  ...Object.fromEntries(
    ['.ssh', '.aws', '.gnupg', '.codex', '.claude', '.docker', '.config/gh'].map((name): [string, Attempt] => [
      `read ~/${name}`,
      ({ home }) => [read(`${home}/${name}/credentials`)],
    ]),
  ),
  ...Object.fromEntries(
    ['.netrc', '.npmrc', '.bash_history', '.git-credentials'].map((name): [string, Attempt] => [
      `read ~/${name}`,
      ({ home }) => [read(`${home}/${name}`)],
    ]),
  ),
  'read keys through a symlink': ({ workspace }) => [read(`${workspace}/link-to-keys/credentials`)],
  'read keys through a directory descriptor': ({ home }) => [read(home), read(`${home}/.ssh/credentials`)],
  'uncover keys by moving or unmounting their cover': ({ home }) => rename(`${home}/.ssh`, `${home}/moved`),
  "read the machine's disks and memory": () => [read('/dev/disk0')],
  'read /etc/shadow': () => [read('/etc/shadow')],
  'append to .git/config': ({ workspace }) => [write(`${workspace}/.git/config`)],
  'make a hook': ({ workspace }) => [write(`${workspace}/.git/hooks/pre-commit`)],
  'make a hook five directories down': ({ workspace }) => [write(`${workspace}/a/b/c/d/e/.git/hooks/pre-commit`)],
  'append to a nested .git/config': ({ workspace }) => [write(`${workspace}/a/b/c/d/e/.git/config`)],
  'move .git aside': ({ workspace }) => rename(`${workspace}/.git`, `${workspace}/git2`),
  'move hooks aside': ({ workspace }) => rename(`${workspace}/.git/hooks`, `${workspace}/.git/hooks2`),
  'git config with a program to run': ({ workspace }) => [
    create(`${workspace}/.git/config.lock`),
    ...rename(`${workspace}/.git/config.lock`, `${workspace}/.git/config`),
  ],
  'redirect .git by commondir': ({ workspace }) => [create(`${workspace}/evil`), create(`${workspace}/.git/commondir`)],
  'a hook of a repository made inside': ({ workspace }) => [
    ...init(`${workspace}/made-repo/.git`),
    create(`${workspace}/made-repo/.git/hooks/pre-commit`),
  ],
  'another repository in place of a nested one': ({ workspace }) => rename(`${workspace}/a`, `${workspace}/a2`),
  ...Object.fromEntries(
    agentFiles.map((name): [string, Attempt] => [`make ${name}`, ({ workspace }) => [write(`${workspace}/${name}`)]]),
  ),
  'agent settings behind a link made inside': ({ workspace }) => [create(`${workspace}/.claude`)],
  ...Object.fromEntries(
    ['info/attributes', 'config.worktree', 'objects/info/alternates'].map((name): [string, Attempt] => [
      `make .git/${name}`,
      ({ workspace }) => [write(`${workspace}/.git/${name}`)],
    ]),
  ),
  'write to .git/config through a hard link': ({ workspace }) => [
    { operation: 'file-link', path: `${workspace}/.git/config` },
    create(`${workspace}/hard`),
  ],
  'git add -A and commit': ({ workspace }) => [
    ...['objects/ab', 'objects/ab/cdef', 'COMMIT_EDITMSG', 'logs', 'logs/HEAD'].map((name) =>
      create(`${workspace}/.git/${name}`),
    ),
    ...['index', 'HEAD', 'refs/heads/main'].flatMap((name) => [
      create(`${workspace}/.git/${name}.lock`),
      ...rename(`${workspace}/.git/${name}.lock`, `${workspace}/.git/${name}`),
    ]),
  ],
  'git init': ({ workspace }) => init(`${workspace}/fresh/.git`),
  'connect to a port of the host': ({ port }) => [connect(`localhost:${port}`)],
  'connect by the shell': ({ port }) => [connect(`localhost:${port}`)],
  'send a datagram to the host': ({ port }) => [connect(`localhost:${port}`)],
  'connect over IPv6, and to an outside address': () => [connect('*:80')],
  "connect to a socket of the host's": ({ socket }) => [{ operation: 'network-outbound', path: socket }],
  'reach the docker daemon': () => [{ operation: 'network-outbound', path: '/private/var/run/docker.sock' }],
  "see a host process's command line": () => [{ operation: 'sysctl-read', name: 'kern.procargs2' }],
  'kill a host process': () => [{ operation: 'signal', target: 'others' }],
  "trace the sandbox's own first process": () => [{ operation: 'mach-priv-task-port', target: 'others' }],
  "read the memory of the sandbox's own first process": () => [{ operation: 'mach-priv-task-port', target: 'others' }],
  'gain privileges': () => [{ operation: 'forbidden-exec-sugid', path: '/usr/bin/su' }],
  mount: () => [{ operation: 'file-write-mount', path: '/mnt' }],
  unmount: () => [{ operation: 'file-write-umount', path: '/mnt' }],
  'make a device': (_, temp) => [{ operation: 'file-mknod', path: `${temp}/null` }],
  'make a device in the workspace': ({ workspace }) => [{ operation: 'file-mknod', path: `${workspace}/null` }],
  chroot: () => [{ operation: 'file-chroot', path: '/' }],
  'hand a directory to oneself over a socket': ({ outside }) => [write(`${outside}/file`)],
  'copy a key in the kernel': ({ home }) => [read(`${home}/.netrc`)],
  'rename a directory to a name of settings': ({ workspace }) => rename(`${workspace}/x`, `${workspace}/.claude`),
  'link settings from a file of another name': ({ workspace }) => [create(`${workspace}/linked/.vscode/tasks.json`)],
  'plant settings in three hundred directories': ({ workspace }) => [
    create(`${workspace}/many/1/.claude/settings.json`),
  ],
  'chroot by itself': () => [{ operation: 'file-chroot', path: '/' }],
}

/** Probes for which no attempt is simulated, because a profile doesn't cover what they try: a pattern for their names, and the reason. */
export const notSimulated: readonly (readonly [RegExp, string])[] = [
  [/\/proc|process's root|\/sys$|\/dev\/shm|first process/, 'macOS has no such file system'],
  [/namespace|^unshare|clone|^setns|abstract socket|capabilities/, 'macOS has no such thing'],
  [
    /io_uring|^clear the read-only flag|userfaultfd|perf_event|^bpf|keyctl|add_key|open_tree|^fsopen|^open_by_handle|init_module|mount by itself/,
    'a system call of Linux',
  ],
  [/kernel's log|^name the machine|process's descriptor/, 'a system call of Linux'],
  [/AF_|netlink|vsock/, 'a socket family or pair, seen by system call on Linux only'],
  [/type into a terminal/, 'decided at run time: a terminal counts as its own by an extension'],
  [/^\d+ (?:processes|MB)|^a file of|^a thousand|^a core|^run longer/, 'a limit, not a rule'],
  [/^leave a process|^be root$|environment/, 'kept by the backend, not by the profile'],
  [
    /^config of a repository|^a \.git file|^a bare repo|^a hook of a submodule|^a linked worktree/,
    'a new repository: without a view, it is the command’s own',
  ],
  [/^see placeholders/, 'a profile creates nothing'],
]
