import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { syscallNumber, type Syscall } from '../../../sandbox/seccomp/syscalls.ts'
import { agentFiles } from '../agent-files.ts'
import { landlockHere } from '../../support/landlock.ts'
import { callingProgram, type Argument } from '../tiny-program.ts'
import { laterProbes } from './later-probes.ts'
import { secret, type Places } from './places.ts'

export type Mode = 'workspace-write' | 'read-only'
export type Outcome = 'blocked' | 'allowed'

/** An attempt, as data: the script that makes it, the signs of its success, and the outcome that the policy requires. */
export type Probe = {
  readonly name: string
  /** A shell script that prints `GOT` if the attempt succeeds, as far as that can be seen inside the sandbox. */
  readonly script: (places: Places) => string
  /** Whether the attempt succeeded, as seen from the host once the command has ended. */
  readonly seen?: (places: Places) => boolean
  readonly expect: Readonly<Record<Mode, Outcome>>
  /** The outcome in docker, if it differs. At each use, a comment says why this is not a hole. */
  readonly inDocker?: Outcome
  /** Where the command starts; default: the workspace. */
  readonly cwd?: (places: Places) => string
  /** Programs to put into the workspace first, by file name. */
  readonly programs?: () => Readonly<Record<string, Uint8Array>>
}

type Expected = Probe['expect']
const never: Expected = { 'workspace-write': 'blocked', 'read-only': 'blocked' }
const inWorkspace: Expected = { 'workspace-write': 'allowed', 'read-only': 'blocked' }
const both: Expected = { 'workspace-write': 'allowed', 'read-only': 'allowed' }

const changed = (path: (places: Places) => string, text: string) => (places: Places) =>
  existsSync(path(places)) && readFileSync(path(places), 'utf8').includes(text)

/**
 * A script that fills a file with a unique name and then removes it. The name is unique because, outside a sandbox, everybody shares these
 * directories.
 */
const inOwnFile = (directory: string, fill: string): string =>
  `file=$(mktemp ${directory}/probe-XXXXXX) && { ${fill} > $file && echo GOT; rm -f $file; }`

/** Whether a process hasn't ended. A killed process remains as a zombie in /proc until its parent, which may be this process, waits for it. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

/** A probe that tries to write a file. In private places, this seems to work inside the sandbox, so only what the host sees counts. */
function write(name: string, path: (places: Places) => string, expect = never): Probe {
  return {
    name,
    script: (places) => `mkdir -p "$(dirname '${path(places)}')"; echo planted >> '${path(places)}'`,
    seen: changed(path, 'planted'),
    expect,
  }
}

function read(name: string, path: (places: Places) => string): Probe {
  return {
    name,
    script: (places) => `cat ${path(places)} | grep -q ${secret} && echo GOT`,
    expect: never,
  }
}

/** A probe that makes a system call directly, with a tiny program. The attempt counts as successful if the call succeeds. */
function call(name: string, syscall: Syscall, args: readonly Argument[], expect = never): Probe {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
  const number = syscallNumber(syscall, architecture)
  const file = `call-${syscall}-${args.filter((arg) => typeof arg === 'number').join('-')}`
  return {
    name,
    script: () => `./${file} && echo GOT`,
    programs: () => (number === undefined ? {} : { [file]: callingProgram(architecture, number, args) }),
    expect,
  }
}

const connect = (target: string) => (places: Places) =>
  `"${places.node}" -e "net.connect(${target}).on('data',()=>console.log('GOT')).on('error',()=>{})"`

const PTRACE_SEIZE = 0x4206

/** `struct iovec` for 8 bytes at the address where most programs begin, as the tiny programs of this test do. */
function buffer(): Uint8Array {
  const iovec = Buffer.alloc(16)
  iovec.writeBigUInt64LE(0x40_0000n, 0)
  iovec.writeBigUInt64LE(8n, 8)
  return iovec
}

/** `struct clone_args` for a plain fork: all zero except the exit signal. */
function forkArguments(): Uint8Array {
  const args = Buffer.alloc(64)
  args.writeBigUInt64LE(17n, 32)
  return args
}

const namespace = (kind: string): Probe => ({
  name: `the host's ${kind} namespace`,
  script: () => `[ "$(readlink /proc/self/ns/${kind})" = "${hostNamespace(kind)}" ] && echo GOT`,
  expect: never,
  // Containers share the daemon's user namespace; this gives them nothing, because they have no capabilities.
  ...(kind === 'user' ? { inDocker: 'allowed' as const } : {}),
})

function hostNamespace(kind: string): string {
  return execFileSync('readlink', [`/proc/self/ns/${kind}`], { encoding: 'utf8' }).trim()
}

/** Defines a shell function that writes a program to the path `$1`. When the program runs, it creates `sentinel`. */
const evil = (places: Places): string =>
  `evil() { printf '#!/bin/sh\\ntouch ${places.workspace}/sentinel\\n' > "$1"; chmod +x "$1"; }; `

/** Returns a function that uses the host's own git in this directory after an attack, and tells whether git ran the planted program. */
const ranOnHost =
  (where: string) =>
  (places: Places): boolean => {
    const directory = join(places.workspace, where)
    for (const command of [
      ['status'],
      ['add', '-A'],
      ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x'],
    ]) {
      if (existsSync(directory)) spawnSync('git', command, { cwd: directory })
    }
    return existsSync(join(places.workspace, 'sentinel'))
  }

export const probes: readonly Probe[] = [
  ...laterProbes,
  // Files
  write('write in the workspace', ({ workspace }) => `${workspace}/new`, inWorkspace),
  write('write a file for agents to read', ({ workspace }) => `${workspace}/AGENTS.md`, inWorkspace),
  write('write beside the workspace', ({ outside }) => `${outside}/new`),
  write('write to a directory whose name begins like the workspace', ({ workspace }) => `${workspace}-evil/new`),
  write('write through a symlink that was there', ({ workspace }) => `${workspace}/link-to-outside/new`),
  {
    name: 'write through a symlink made inside',
    script: ({ outside }) =>
      `ln -s ${outside} made; echo planted > made/new2; ln -s ${outside}/file made2; echo planted >> made2`,
    seen: ({ outside }) => existsSync(`${outside}/new2`) || readFileSync(`${outside}/file`, 'utf8').includes('planted'),
    expect: never,
  },
  {
    name: 'hardlink a file from outside and write it',
    script: ({ outside }) => `ln ${outside}/file hard && echo planted >> hard`,
    seen: changed(({ outside }) => `${outside}/file`, 'planted'),
    expect: never,
  },
  {
    name: 'write in a directory outside that the command starts in',
    cwd: ({ outside }) => outside,
    script: () => 'echo planted > started-here',
    seen: ({ outside }) => existsSync(`${outside}/started-here`),
    expect: never,
  },
  write('write through /proc/1/root', ({ outside }) => `/proc/1/root${outside}/by-proc`),
  write('write through /proc/self/root', ({ outside }) => `/proc/self/root${outside}/by-self`),
  write("write through a host process's root", ({ hostPid, outside }) => `/proc/${hostPid}/root${outside}/by-pid`),
  {
    name: 'write to a file outside that is open for reading',
    script: ({ outside }) => `exec 3< ${outside}/file; echo planted >> /proc/self/fd/3`,
    seen: changed(({ outside }) => `${outside}/file`, 'planted'),
    expect: never,
  },
  write('write to /var/tmp', ({ stray }) => `/var/tmp/${stray}`),
  write("write to the host's /tmp", ({ stray }) => `/tmp/${stray}`),
  write('write to /etc', ({ stray }) => `/etc/${stray}`),
  write('write to ~/.bashrc', ({ home }) => `${home}/.bashrc`),
  write('write to ~/.profile, which is absent', ({ home }) => `${home}/.profile`),
  { name: 'write to the private /tmp', script: () => inOwnFile('/tmp', 'echo x'), expect: both },
  { name: 'write to the private /dev/shm', script: () => inOwnFile('/dev/shm', 'echo x'), expect: both },
  {
    name: 'make a device or write in /dev',
    script: () => 'echo x > /dev/new && echo GOT',
    expect: never,
    // In docker, /dev is a small file system of the container's own. It belongs to the root user of the container, so only the fence is in the way.
    ...(process.geteuid?.() === 0 && landlockHere() < 2 ? { inDocker: 'allowed' as const } : {}),
  },
  {
    name: 'move the workspace away',
    script: ({ workspace }) => `mv ${workspace} ${workspace}2 && echo GOT`,
    expect: never,
  },
  {
    name: 'leave a set-user-id program behind',
    script: () => 'cp /bin/true suid; chmod 4755 suid',
    seen: ({ workspace }) => existsSync(`${workspace}/suid`) && (statSync(`${workspace}/suid`).mode & 0o6000) !== 0,
    expect: never,
  },

  // Secrets
  ...['.ssh', '.aws', '.gnupg', '.codex', '.claude', '.docker', '.config/gh'].map((name) =>
    read(`read ~/${name}`, ({ home }) => `${home}/${name}/credentials`),
  ),
  ...['.netrc', '.npmrc', '.bash_history', '.git-credentials'].map((name) =>
    read(`read ~/${name}`, ({ home }) => `${home}/${name}`),
  ),
  read('read keys through a symlink', () => 'link-to-keys/credentials'),
  read('read keys through /proc/self/root', ({ home }) => `/proc/self/root${home}/.ssh/credentials`),
  read('read keys through /proc/1/root', ({ home }) => `/proc/1/root${home}/.ssh/credentials`),
  read('read keys through a directory descriptor', ({ home }) => `3<${home}/. /proc/self/fd/3/.ssh/credentials`),
  {
    name: 'uncover keys by moving or unmounting their cover',
    script: ({ home }) =>
      `mv ${home}/.ssh ${home}/moved; umount ${home}/.ssh; umount -l ${home}/.ssh; cat ${home}/.ssh/* ${home}/moved/* | grep -q ${secret} && echo GOT`,
    expect: never,
  },
  {
    name: "read the machine's disks and memory",
    script: () =>
      'for file in /dev/vda /dev/sda /dev/nvme0n1 /dev/mem /dev/kmsg /proc/kcore; do head -c 1 $file | grep -q . && echo GOT; done',
    expect: never,
  },
  { name: 'read /etc/shadow', script: () => 'grep -q . /etc/shadow && echo GOT', expect: never },
  {
    name: 'find secrets in the environment, of any process inside',
    script: () =>
      // The brackets keep the pattern from finding itself in this script's own command line.
      `cat /proc/*/environ /proc/*/cmdline | grep -aq '${secret.slice(0, -1)}[${secret.slice(-1)}]' && echo GOT`,
    expect: never,
  },

  // Files that would take effect on the host
  write('append to .git/config', ({ workspace }) => `${workspace}/.git/config`),
  write('make a hook', ({ workspace }) => `${workspace}/.git/hooks/pre-commit`),
  write('make a hook five directories down', ({ workspace }) => `${workspace}/a/b/c/d/e/.git/hooks/pre-commit`),
  write('append to a nested .git/config', ({ workspace }) => `${workspace}/a/b/c/d/e/.git/config`),
  { name: 'move .git aside', script: () => 'mv .git git2 && echo GOT', expect: never },
  {
    name: 'move hooks aside',
    script: () => 'mv .git/hooks .git/hooks2',
    seen: ({ workspace }) => existsSync(`${workspace}/.git/hooks2`) || !existsSync(`${workspace}/.git/hooks`),
    expect: never,
  },
  {
    name: 'git config with a program to run',
    script: () => 'git config core.fsmonitor ./x',
    seen: changed(({ workspace }) => `${workspace}/.git/config`, 'fsmonitor'),
    expect: never,
  },
  {
    name: 'redirect .git by commondir',
    script: (places) =>
      `${evil(places)} cp -r .git evil; evil hook; printf '[core]\\n\\tfsmonitor = ./hook\\n' >> evil/config; echo ../evil > .git/commondir`,
    seen: ranOnHost('.'),
    expect: never,
  },
  {
    name: 'a hook of a repository made inside',
    script: (places) =>
      `${evil(places)} git init -q made-repo; evil made-repo/.git/hooks/pre-commit; echo x > made-repo/x`,
    seen: ranOnHost('made-repo'),
    expect: never,
  },
  {
    name: 'config of a repository made inside',
    script: (places) =>
      `${evil(places)} git init -q made-repo; evil hook; git -C made-repo config core.fsmonitor ../hook`,
    seen: ranOnHost('made-repo'),
    expect: never,
  },
  {
    name: 'another repository in place of a nested one',
    script: (places) =>
      `${evil(places)} mv a a2; git init -q a/b/c/d/e; evil a/b/c/d/e/.git/hooks/pre-commit; echo x > a/b/c/d/e/x`,
    seen: ranOnHost('a/b/c/d/e'),
    expect: never,
  },
  {
    name: 'a .git file that leads elsewhere',
    script: (places) =>
      `${evil(places)} git init -q x; mkdir sub; mv x/.git sub/data; evil hook; git --git-dir=sub/data config core.fsmonitor ${places.workspace}/hook; echo 'gitdir: data' > sub/.git`,
    seen: ranOnHost('sub'),
    expect: never,
  },
  {
    name: 'a bare repository among the files',
    script: (places) =>
      `${evil(places)} git init -q --bare bare; evil hook; git -C bare config core.bare false; git -C bare config core.worktree ${places.workspace}; git -C bare config core.fsmonitor ${places.workspace}/hook`,
    seen: ranOnHost('bare'),
    expect: never,
  },
  ...agentFiles.map((name) => write(`make ${name}`, ({ workspace }) => `${workspace}/${name}`)),
  {
    name: 'agent settings behind a link made inside',
    script: () => 'mkdir hidden; echo planted > hidden/settings.json; ln -s hidden .claude',
    seen: changed(({ workspace }) => `${workspace}/.claude/settings.json`, 'planted'),
    expect: never,
  },
  ...['info/attributes', 'config.worktree', 'objects/info/alternates'].map((name) =>
    write(`make .git/${name}`, ({ workspace }) => `${workspace}/.git/${name}`),
  ),
  {
    name: 'write to .git/config through a hard link',
    script: () => 'ln .git/config hard && echo planted >> hard',
    seen: changed(({ workspace }) => `${workspace}/.git/config`, 'planted'),
    expect: never,
  },
  {
    name: 'a hook of a submodule made inside',
    script: (places) =>
      `${evil(places)} mkdir -p sub .git/modules; cp -r .git /tmp/copy; cp -r /tmp/copy .git/modules/sub; evil .git/modules/sub/hooks/pre-commit; echo 'gitdir: ../.git/modules/sub' > sub/.git; echo x > sub/x`,
    seen: ranOnHost('sub'),
    expect: never,
  },
  {
    name: 'a linked worktree made inside that leads to another configuration',
    script: (places) =>
      `${evil(places)} git worktree add -q tree; cp -r .git evil; evil hook; printf '[core]\\n\\tfsmonitor = ${places.workspace}/hook\\n' >> evil/config; echo ${places.workspace}/evil > .git/worktrees/tree/commondir`,
    seen: ranOnHost('tree'),
    expect: never,
  },
  {
    name: 'see placeholders: a file that is not there is there',
    script: () => 'git status --porcelain | grep -vE "^\\?\\? (a/|call-|link-)" | grep -q . && echo GOT',
    expect: never,
  },
  {
    name: 'git add -A and commit',
    script: () =>
      'git add -A . 2>/dev/null; echo more >> file && git add file && git -c user.name=a -c user.email=a@b commit -qm more && echo GOT',
    expect: inWorkspace,
  },
  {
    name: 'git init',
    script: () => 'git init -q fresh && git -C fresh status >/dev/null && echo GOT',
    expect: inWorkspace,
  },

  // Network
  {
    name: 'connect to a port of the host',
    script: (places) => connect(`{host:'127.0.0.1',port:${places.port}}`)(places),
    expect: never,
  },
  {
    name: 'connect by the shell',
    script: ({ port }) => `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' && echo GOT`,
    expect: never,
  },
  {
    name: 'send a datagram to the host',
    script: ({ port, node }) =>
      `"${node}" -e "require('node:dgram').createSocket('udp4').send('x',${port},'127.0.0.1',function(){this.close()})" 2>/dev/null; true`,
    seen: ({ datagrams }) => datagrams() > 0,
    expect: never,
  },
  {
    name: 'connect over IPv6, and to an outside address',
    script: ({ node, port }) =>
      `for host in ::1 192.0.2.1 2001:db8::1; do "${node}" -e "net.connect({host:'$host',port:${port},timeout:500}).on('connect',()=>console.log('GOT')).on('timeout',()=>process.exit()).on('error',e=>{if('$host'!=='::1'&&(e.code==='ECONNREFUSED'||e.code==='ETIMEDOUT'))console.log('GOT')})"; done`,
    expect: never,
  },
  {
    name: "connect to a socket of the host's",
    script: (places) => connect(`'${places.socket}'`)(places),
    expect: never,
  },
  {
    name: "connect to an abstract socket of the host's",
    script: (places) => connect(`String.fromCharCode(0)+'${places.abstractSocket.slice(1)}'`)(places),
    expect: never,
  },
  {
    name: 'reach the docker daemon',
    script: () => '[ -S /var/run/docker.sock ] || [ -S /run/docker.sock ] && echo GOT',
    expect: never,
  },
  call('an AF_UNIX datagram socket', 'socket', [1, 2, 0]),
  call('a pair of AF_UNIX datagram sockets', 'socketpair', [1, 2, 0, Buffer.alloc(8)]),
  call('a pair of AF_UNIX datagram sockets by their other name', 'socketpair', [1, 3, 0, Buffer.alloc(8)]),
  call('a pair of AF_UNIX stream sockets', 'socketpair', [1, 1, 0, Buffer.alloc(8)], both),
  call('a netlink socket for anything but the list of interfaces', 'socket', [16, 3, 15]),
  call('an AF_PACKET socket', 'socket', [17, 3, 0]),
  call('a vsock socket', 'socket', [40, 1, 0]),
  call('an AF_ALG socket', 'socket', [38, 5, 0]),

  // Other processes
  {
    name: "see a host process's command line",
    script: ({ hostMark }) =>
      `for f in /proc/[0-9]*/cmdline; do [ "$(tr '\\0' ' ' <$f)" = 'sleep ${hostMark} ' ] && echo GOT; done`,
    expect: never,
  },
  {
    name: 'kill a host process',
    script: ({ hostPid }) => `kill -9 ${hostPid}`,
    seen: ({ hostPid }) => {
      // On a busy machine, it may take a while until a signal has killed a process.
      for (let tries = 0; tries < 6 && isRunning(hostPid); tries += 1) spawnSync('sleep', ['0.5'])
      return !isRunning(hostPid)
    },
    expect: never,
  },
  {
    name: "write to the sandbox's own first process",
    script: () => '( exec 3<>/proc/1/mem ) && echo GOT',
    expect: never,
  },
  call("trace the sandbox's own first process", 'ptrace', [PTRACE_SEIZE, 1, 0, 0]),
  call("take another process's descriptor", 'pidfd_getfd', [0, 0, 0]),
  call("read the memory of the sandbox's own first process", 'process_vm_readv', [1, buffer(), 1, buffer(), 1, 0]),
  call("write to the memory of the sandbox's own first process", 'process_vm_writev', [1, buffer(), 1, buffer(), 1, 0]),
  {
    name: 'leave a process running',
    script: ({ hostMark }) => `setsid sleep 7${hostMark} & (sleep 7${hostMark} &) & true`,
    seen: ({ hostMark }) => spawnSync('pgrep', ['-f', `sleep 7${hostMark}`]).status === 0,
    expect: never,
  },
  ...['user', 'pid', 'mnt', 'ipc', 'uts', 'net', 'cgroup'].map(namespace),

  // The kernel
  {
    name: 'have capabilities',
    script: () => `grep -E '^Cap(Eff|Prm|Bnd|Amb)' /proc/self/status | grep -qv 0000000000000000 && echo GOT`,
    expect: never,
  },
  {
    name: 'be root',
    script: () => '[ "$(id -u)" = 0 ] && echo GOT',
    expect: never,
    // In a container, user ids are the host's, and files that a command writes must belong to the caller: root stays root, but without capabilities.
    ...(process.geteuid?.() === 0 ? { inDocker: 'allowed' as const } : {}),
  },
  {
    name: 'gain privileges',
    script: () =>
      `grep -q 'NoNewPrivs:.0' /proc/self/status && echo GOT; su root -c id </dev/null | grep -q uid=0 && echo GOT`,
    expect: never,
  },
  ...['kernel/core_pattern', 'kernel/hostname', 'vm/drop_caches', 'net/ipv4/ip_forward'].map((name): Probe => ({
    name: `open /proc/sys/${name} for writing`,
    script: () => `( exec 3>>/proc/sys/${name} ) && echo GOT`,
    expect: never,
  })),
  {
    name: 'write to /sys',
    script: () =>
      'find /sys -maxdepth 4 -type f -writable 2>/dev/null | head -1 | while read -r f; do ( exec 3>>"$f" ) && echo GOT; done',
    expect: never,
  },
  {
    name: 'mount',
    script: () => 'mount -t tmpfs none /mnt && echo GOT; mount -o remount,rw / && echo GOT',
    expect: never,
  },
  { name: 'unmount', script: () => 'umount -l /proc && echo GOT; umount /tmp && echo GOT', expect: never },
  { name: 'make a device', script: () => 'mknod /tmp/null c 1 3 && echo GOT', expect: never },
  { name: 'make a device in the workspace', script: () => 'mknod null c 1 3 && echo GOT', expect: never },
  {
    name: 'open /proc/sysrq-trigger for writing',
    script: () => '( exec 3>/proc/sysrq-trigger ) && echo GOT',
    expect: never,
  },
  {
    name: 'make a user namespace',
    script: () => 'unshare -U true && echo GOT; unshare -r true && echo GOT',
    expect: never,
  },
  {
    name: 'make other namespaces',
    script: () => 'for n in m u i n p C; do unshare -$n true && echo GOT; done',
    expect: never,
  },
  { name: 'enter a namespace', script: () => 'nsenter -t 1 -m true && echo GOT', expect: never },
  { name: 'chroot', script: () => 'chroot / true && echo GOT', expect: never },
  call('chroot by itself', 'chroot', [Buffer.from('/\0')]),
  call('unshare by itself', 'unshare', [0x10000000]),
  call('clone with a user namespace', 'clone', [0x10000000 | 17, 0]),
  call('clone3', 'clone3', [forkArguments(), 64]),
  call('io_uring', 'io_uring_setup', [1, Buffer.alloc(120)]),
  call('userfaultfd', 'userfaultfd', [1]),
  call('perf_event_open', 'perf_event_open', [Buffer.alloc(128), 0, -1, -1, 0]),
  call('bpf', 'bpf', [0, Buffer.alloc(128), 128]),
  call('add_key', 'add_key', [Buffer.from('user\0'), Buffer.from('x\0'), Buffer.from('y'), 1, -2]),
  call('keyctl', 'keyctl', [0, -3, 0]),
  call('type into a terminal', 'ioctl', [0, 0x5412, Buffer.from('x')]),
  call('setns', 'setns', [0, 0]),
  call('mount by itself', 'mount', [
    Buffer.from('none\0'),
    Buffer.from('/mnt\0'),
    Buffer.from('tmpfs\0'),
    0,
    Buffer.from('\0'),
  ]),
  call('fsopen', 'fsopen', [Buffer.from('tmpfs\0'), 0]),
  call('open_by_handle_at', 'open_by_handle_at', [-100, Buffer.alloc(16), 0]),
  call("read the kernel's log", 'syslog', [10, 0, 0]),
  call('init_module', 'init_module', [0, 0, 0]),
  call('name the machine', 'sethostname', [Buffer.from('x'), 1]),
  call('open_tree', 'open_tree', [-100, Buffer.from('/\0'), 1]),

  // Limits of the battery's policy
  {
    name: '600 processes',
    script: () => 'i=0; while [ $i -lt 600 ]; do sleep 9 & i=$((i+1)); done; echo GOT',
    expect: never,
  },
  {
    name: '400 MB of memory',
    script: () => 'head -c 400000000 /dev/zero | tail -c 390000000 | wc -c | grep -q 390000000 && echo GOT',
    expect: never,
  },
  { name: '400 MB in /dev/shm', script: () => inOwnFile('/dev/shm', 'head -c 400000000 /dev/zero'), expect: never },
  { name: 'a file of 200 MB', script: () => inOwnFile('/tmp', 'head -c 200000000 /dev/zero'), expect: never },
  {
    name: 'a thousand open files',
    script: ({ node }) => `"${node}" -e "for(let i=0;i<1000;i++)fs.openSync('/dev/null');console.log('GOT')"`,
    expect: never,
  },
  { name: 'a core dump', script: () => '[ "$(ulimit -c)" = 0 ] || echo GOT', expect: never },
  { name: 'run longer than allowed', script: () => 'sleep 6; echo GOT', expect: never },
]
