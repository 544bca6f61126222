import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { constants as machine } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { Server } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished } from 'vitest'
import { exchangeAttributes, type AttributeRequest } from '../../sandbox/helper/attributes.ts'
import { encodeFence, noFence } from '../../sandbox/helper/fence.ts'
import { encodePlan, list, type Value } from '../../sandbox/helper/plan.ts'
import { encodeSteps } from '../../sandbox/helper/steps.ts'
import { listenerFailed } from '../../sandbox/network/inside.ts'
import { compileFilter } from '../../sandbox/seccomp/compile.ts'
import { filterRules } from '../../sandbox/seccomp/rules.ts'
import { sizeMessage } from '../../sandbox/terminal/connect-terminal.ts'
import { landlockHere } from '../support/landlock.ts'
import { isEmulated, startOf, testOn } from '../support/processors.ts'
import { testUnless } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

/** Waits for the socket that a program passes on. Rejects if the program ends without passing one on. */
async function handed(child: ChildProcess): Promise<Server> {
  const message = once(child, 'message') as unknown as Promise<readonly [unknown, Server]>
  const ended = once(child, 'close').then(([code]) => Promise.reject(new Error(`it ended with ${String(code)}`)))
  const [, server] = await Promise.race([message, ended])
  return server
}

/** Runs a program to completion. */
async function run([file, ...start]: readonly [string, ...string[]], args: readonly string[], cwd = tempDir()) {
  const child = spawn(file, [...start, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as unknown, stdout, stderr }
}

/** A file with this content, which is removed at the end of the test. */
function fileWith(content: Uint8Array): string {
  const file = join(tempDir(), 'file')
  writeFileSync(file, content)
  return file
}

const errors = machine.errno

/** Tests that need privileges of the host's root. */
const testAsRoot = (architecture: 'x64' | 'arm64') =>
  testUnless(process.geteuid?.() === 0 ? undefined : 'only root has these attributes', testOn(architecture))

/** An ACL (acl(5)) that gives one more user the right to read and write, as the kernel stores it. */
function namedUserAcl(user: number): Buffer {
  const [nobody, owner, named, group, mask, other] = [0xffffffff, 1, 2, 4, 16, 32]
  const entries = [
    [owner, 6, nobody],
    [named, 6, user],
    [group, 4, nobody],
    [mask, 6, nobody],
    [other, 0, nobody],
  ] as const
  const acl = Buffer.alloc(4 + entries.length * 8)
  acl.writeUInt32LE(2)
  for (const [index, [tag, rights, id]] of entries.entries()) {
    acl.writeUInt16LE(tag, 4 + index * 8)
    acl.writeUInt16LE(rights, 6 + index * 8)
    acl.writeUInt32LE(id, 8 + index * 8)
  }
  return acl
}

/** A random port in a range from which the system doesn't assign ports automatically. */
const port = (): number => 20_000 + Math.floor(Math.random() * 10_000)

describe.each(['x64', 'arm64'] as const)('the helper for %s', (architecture) => {
  const test = testOn(architecture)
  const filter = (): string => fileWith(compileFilter(filterRules('internet', false), architecture))

  test('the terminal program gives a command a terminal of the requested size, and ends with its exit code', async () => {
    const [file, ...start] = startOf(architecture, 'terminal', '3')
    const script = 'stty size; read line; echo "read $line"; test -t 0 && test -t 1 && test -t 2 && exit 7'
    const child = spawn(file, [...start, '/bin/sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit', 'pipe'] })
    const control = child.stdio[3] as Writable
    control.write(sizeMessage({ columns: 100, rows: 40 }))
    child.stdin?.write('words\n')
    const [shown, [code]] = await Promise.all([text(child.stdout as Readable), once(child, 'close')])
    control.destroy()
    expect(shown.replaceAll('\r', '')).toContain('40 100\n')
    expect(shown).toContain('read words')
    expect(code).toBe(7)
  })

  test('the terminal program ends with 126 if there is nothing to run', async () => {
    const [file, ...start] = startOf(architecture, 'terminal', '3')
    const child = spawn(file, [...start, '/no/such/program'], { stdio: ['pipe', 'ignore', 'ignore', 'pipe'] })
    ;(child.stdio[3] as Writable).write(sizeMessage({ columns: 80, rows: 24 }))
    expect(await once(child, 'close')).toEqual([126, null])
  })

  test('the listener passes on a socket that listens for both versions of the protocol', async () => {
    const at = port()
    const [file, ...start] = startOf(architecture, 'listen', '3', `${at}`)
    const child = spawn(file, start, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const [server, [code]] = await Promise.all([handed(child), once(child, 'exit')])
    expect([code, server.address()]).toEqual([0, { address: '::', family: 'IPv6', port: at }])
    server.close()
  })

  test('the relay receives a socket from an entry program of this machine, and passes it on', async () => {
    const [cwd, at] = [tempDir(), port()]
    const [file, ...start] = startOf(architecture, 'relay', '3', '1')
    const relay = spawn(file, start, { cwd, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    await once(relay.stdout ?? relay, 'data')
    const here = process.arch === 'arm64' ? 'arm64' : 'x64'
    const own = fileWith(compileFilter(filterRules('internet', false), here))
    const entry = run(startOf(here, 'enter', own), ['/', '1', `${at}`, '/bin/pwd'], cwd)
    const [server, ended] = await Promise.all([handed(relay), entry])
    expect(server.address()).toMatchObject({ address: '::', port: at })
    expect(ended).toEqual({ code: 0, stdout: '/\n', stderr: '' })
    server.close()
  })

  test('the entry program reports a directory that it can’t enter', async () => {
    const cwd = tempDir()
    const [file, ...start] = startOf(architecture, 'relay', '3', '1')
    const relay = spawn(file, start, { cwd, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    await once(relay.stdout ?? relay, 'data')
    const entry = startOf(architecture, 'enter', filter())
    const { code, stderr } = await run(entry, ['/no/such/directory', '1', `${port()}`, '/bin/true'], cwd)
    relay.kill('SIGKILL')
    expect(code).toBe(125)
    expect(stderr).toContain('working directory')
  })

  test('the entry program without a relay opens nothing', async () => {
    const entry = startOf(architecture, 'enter', filter())
    expect(await run(entry, ['/', '1', `${port()}`, '/bin/true'])).toEqual({
      code: 125,
      stdout: '',
      stderr: `${listenerFailed}\n`,
    })
  })

  test('the entry program doesn’t start the command if the relay ends without an answer', async () => {
    const cwd = tempDir()
    const here = process.arch === 'arm64' ? 'arm64' : 'x64'
    const [file, ...start] = startOf(architecture, 'relay', '3', '1')
    // The channel is closed already, so the relay can't pass on what it gets.
    const relay = spawn('/bin/sh', ['-c', '"$@" 3<&0 </dev/null', 'sh', file, ...start], {
      cwd,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    relay.stdin?.destroy()
    await once(relay.stdout ?? relay, 'data')
    const own = fileWith(compileFilter(filterRules('internet', false), here))
    const ended = await run(startOf(here, 'enter', own), ['/', '1', `${port()}`, '/bin/echo', 'started'], cwd)
    expect(ended).toEqual({ code: 125, stdout: '', stderr: `${listenerFailed}\n` })
  })

  test('the filter program runs a command under the filter, or not at all', async () => {
    const start = startOf(architecture, 'filter', filter())
    const ended = await run(start, ['/bin/sh', '-c', 'grep Seccomp: /proc/self/status'])
    if (isEmulated(architecture)) expect(ended).toEqual({ code: 125, stdout: '', stderr: '' })
    else expect(ended).toEqual({ code: 0, stdout: 'Seccomp:\t2\n', stderr: '' })
  })

  test('the check program becomes the command if everything is as planned, and otherwise reports the difference', async () => {
    const check = (path: string, readOnly: boolean) => {
      const plan = [...encodeSteps([{ do: 'expect', path, readOnly }]), ...encodeFence(noFence)]
      return run(startOf(architecture, 'check', fileWith(encodePlan(plan)), 'changed: '), ['/bin/echo', 'as planned'])
    }
    expect(await check('/proc', false)).toEqual({ code: 0, stdout: 'as planned\n', stderr: '' })
    expect(await check('/proc', true)).toEqual({ code: 125, stdout: '', stderr: 'changed: /proc\n' })
    const plain = tempDir()
    expect(await check(plain, false)).toEqual({ code: 125, stdout: '', stderr: `changed: ${plain}\n` })
  })

  test('what isn’t a part of the helper, and plans that are damaged anywhere, are refused', async () => {
    expect((await run(startOf(architecture, 'nothing'), [])).code).toBe(125)
    const plan = encodePlan([
      ...encodeSteps([{ do: 'expect', path: '/proc', readOnly: false }]),
      ...encodeFence(noFence),
    ])
    const damaged = [
      plan.subarray(0, -1),
      Buffer.concat([plan, Buffer.of(0)]),
      Buffer.alloc(0),
      // Another version, and a path that isn't absolute.
      Buffer.from(plan).fill(2, 8, 9),
      Buffer.from(plan).fill('x', plan.indexOf('/proc'), plan.indexOf('/proc') + 1),
    ]
    for (const each of damaged) {
      const ended = await run(startOf(architecture, 'check', fileWith(each), 'changed: '), ['/bin/echo', 'started'])
      expect(ended).toEqual({ code: 125, stdout: '', stderr: '' })
    }
  })

  test('attributes are listed, set and removed, also those of a symlink’s directory but not through it', () => {
    const directory = tempDir({ file: '', 'sub/other': '' })
    symlinkSync('file', join(directory, 'link'))
    const [helper, ...before] = startOf(architecture)
    const held = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
    const exchange = (...requests: readonly AttributeRequest[]) =>
      exchangeAttributes([helper, ...before], [held], requests)
    const value = Buffer.from([0, 255, 10])
    const set = exchange(
      { do: 'set', directory: 0, path: 'file', name: 'user.overlay.opaque', value: Buffer.from('y') },
      { do: 'set', directory: 0, path: 'file', name: 'user.kept', value },
      { do: 'set', directory: 0, path: 'sub', name: 'user.empty', value: Buffer.alloc(0) },
      { do: 'set', directory: 0, path: '', name: 'user.of-all', value },
      { do: 'set', directory: 0, path: 'link', name: 'user.through', value },
      { do: 'list', directory: 0, path: 'sub/absent' },
      { do: 'list', directory: 0, path: 'link/inside' },
      { do: 'list', directory: 0, path: '../elsewhere' },
    )
    const { EPERM, ENOENT, ENOTDIR, EINVAL } = errors
    expect(set.map(({ error }) => error)).toEqual([0, 0, 0, 0, EPERM, ENOENT, ENOTDIR, EINVAL])
    const [removed, ...listed] = exchange(
      { do: 'remove', directory: 0, path: 'file', name: 'user.overlay.opaque' },
      ...['file', 'sub', '', 'sub/other'].map((path): AttributeRequest => ({ do: 'list', directory: 0, path })),
    )
    closeSync(held)
    expect(removed?.error).toBe(0)
    expect(listed.map(({ attributes }) => [...attributes].filter(([name]) => name.startsWith('user.')))).toEqual([
      [['user.kept', value]],
      [['user.empty', Buffer.alloc(0)]],
      [['user.of-all', value]],
      [],
    ])
  })

  test('attributes of a plan that is damaged at its end stay as they are', async () => {
    const directory = tempDir({ file: '' })
    const [helper, ...before] = startOf(architecture)
    const held = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
    const requests = (last: readonly Value[]) =>
      encodePlan(list([[2, 3, 'file', 'user.name', Buffer.from('value')], last]))
    const outcomes = [
      [1, 3, 'file'],
      // Requests of no kind, without a path, and with a time that isn't one.
      [5, 3, 'file'],
      [1, 3],
      [4, 3, 'file', 1, 1_000_000_000],
    ].map((last) => {
      const stdio = ['pipe', 'ignore', 'ignore', held] as const
      const { status } = spawnSync(helper, [...before, 'attributes'], { input: requests(last), stdio: [...stdio] })
      const [listed] = exchangeAttributes([helper, ...before], [held], [{ do: 'list', directory: 0, path: 'file' }])
      exchangeAttributes([helper, ...before], [held], [{ do: 'remove', directory: 0, path: 'file', name: 'user.name' }])
      return [status, listed?.attributes.has('user.name')]
    })
    closeSync(held)
    const refused = [errors.EBADMSG, false]
    expect(outcomes).toEqual([[0, true], refused, refused, refused])
  })

  test('modification times are set to the nanosecond, also of directories and symlinks, and access times are not', () => {
    const directory = tempDir({ file: '', 'sub/other': '' })
    symlinkSync('file', join(directory, 'link'))
    symlinkSync('sub', join(directory, 'way'))
    const accessed = (name: string) => lstatSync(join(directory, name), { bigint: true }).atimeNs
    const before = ['file', 'sub', 'link'].map(accessed)
    const [helper, ...start] = startOf(architecture)
    const held = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
    const times = {
      file: 1_700_000_000_123_456_789n,
      'sub/other': -1n,
      sub: 2_000_000_000_999_999_999n,
      link: 1_000_000_001n,
    }
    const replies = exchangeAttributes(
      [helper, ...start],
      [held],
      [...Object.entries(times), ['absent', 0n] as const, ['way/other', 5n] as const].map(([path, modified]) => ({
        do: 'set-time',
        directory: 0,
        path,
        modified,
      })),
    )
    closeSync(held)
    expect(replies.map(({ error }) => error)).toEqual([0, 0, 0, 0, errors.ENOENT, errors.ENOTDIR])
    const found = Object.keys(times).map((name) => [name, lstatSync(join(directory, name), { bigint: true }).mtimeNs])
    expect(found).toEqual(Object.entries(times))
    expect(['file', 'sub', 'link'].map(accessed)).toEqual(before)
  })

  test('ACLs are read, kept and removed, and those of a directory for new entries too', () => {
    const directory = tempDir({ file: '', 'sub/other': '' })
    const [helper, ...start] = startOf(architecture)
    const held = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
    const exchange = (...requests: readonly AttributeRequest[]) =>
      exchangeAttributes([helper, ...start], [held], requests)
    const [access, forNew] = ['system.posix_acl_access', 'system.posix_acl_default'] as const
    const acl = namedUserAcl(1234)
    exchange(
      { do: 'set', directory: 0, path: 'file', name: access, value: acl },
      { do: 'set', directory: 0, path: 'sub', name: forNew, value: acl },
    )
    // The mode's group bits are the mask of the ACL.
    expect(lstatSync(join(directory, 'file')).mode & 0o777).toBe(0o660)
    writeFileSync(join(directory, 'sub/made'), '')
    const listed = exchange(
      ...['file', 'sub', 'sub/made'].map((path): AttributeRequest => ({ do: 'list', directory: 0, path })),
    ).map(({ attributes }) => [...attributes].filter(([name]) => name.startsWith('system.')))
    expect(listed).toEqual([[[access, acl]], [[forNew, acl]], [[access, acl]]])
    const kept = exchange(
      { do: 'set', directory: 0, path: 'sub/other', name: access, value: listed[0]?.[0]?.[1] ?? Buffer.of() },
      { do: 'remove', directory: 0, path: 'file', name: access },
      { do: 'list', directory: 0, path: 'sub/other' },
      { do: 'list', directory: 0, path: 'file' },
    )
    closeSync(held)
    expect(kept.map(({ error }) => error)).toEqual([0, 0, 0, 0])
    expect([kept[2]?.attributes.get(access), kept[3]?.attributes.has(access)]).toEqual([acl, false])
  })

  testAsRoot(architecture)('attributes of overlays are stripped, also those that only root sees', () => {
    const directory = tempDir({ file: '' })
    const [helper, ...start] = startOf(architecture)
    const held = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
    const names = ['trusted.overlay.origin', 'user.kept', 'user.overlay.origin']
    const each = (make: (name: string) => AttributeRequest) =>
      exchangeAttributes([helper, ...start], [held], names.map(make)).map(({ error }) => error)
    const value = Buffer.from('value')
    expect(each((name) => ({ do: 'set', directory: 0, path: 'file', name, value }))).toEqual([0, 0, 0])
    const list = (): readonly string[] => {
      const [reply] = exchangeAttributes([helper, ...start], [held], [{ do: 'list', directory: 0, path: 'file' }])
      return [...(reply?.attributes.keys() ?? [])].filter((name) => names.includes(name)).toSorted()
    }
    expect(list()).toEqual(names)
    each((name) => ({ do: name === 'user.kept' ? 'list' : 'remove', directory: 0, path: 'file', name }))
    expect(list()).toEqual(['user.kept'])
    closeSync(held)
  })

  test('a terminal whose output nobody reads any more lets its command finish', async () => {
    const directory = tempDir()
    const [file, ...start] = startOf(architecture, 'terminal', '3')
    const script = `echo started; while ! [ -e ${directory}/go ]; do sleep 0.02; done; for word in 1 2 3 4 5; do echo $word; sleep 0.02; done; echo whole > ${directory}/end; exit 9`
    const child = spawn(file, [...start, '/bin/sh', '-c', script], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] })
    ;(child.stdio[3] as Writable).write(sizeMessage({ columns: 80, rows: 24 }))
    await once(child.stdout as Readable, 'data')
    child.stdout?.destroy()
    writeFileSync(join(directory, 'go'), '')
    expect(await once(child, 'close')).toEqual([9, null])
    expect(readFileSync(join(directory, 'end'), 'utf8')).toBe('whole\n')
  })

  test('a terminal passes SIGTERM on even if its command has hardly begun', async () => {
    const [file, ...start] = startOf(architecture, 'terminal', '3')
    for (let tries = 0; tries < (isEmulated(architecture) ? 10 : 100); tries += 1) {
      const child = spawn(file, [...start, '/bin/sleep', '600'], { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] })
      // The signal may come before the size is read.
      const control = (child.stdio[3] as Writable).on('error', () => undefined)
      control.write(sizeMessage({ columns: 80, rows: 24 }))
      await wait(tries / 20)
      child.kill('SIGTERM')
      expect(await once(child, 'close')).toEqual([null, 'SIGTERM'])
    }
  })

  describe('a terminal whose output nobody reads', () => {
    /** Starts a shell script in a terminal. The terminal's output goes to a pipe that is full and stays so until the end of the test. */
    function startUnread(script: string): { readonly child: ChildProcess; readonly ended: Promise<unknown[]> } {
      const pipe = join(tempDir(), 'pipe')
      spawnSync('mkfifo', [pipe])
      const unread = openSync(pipe, constants.O_RDWR)
      onTestFinished(() => {
        closeSync(unread)
      })
      const full = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
      expect(() => {
        for (;;) writeSync(full, 'x'.repeat(4096))
      }).toThrow('EAGAIN')
      closeSync(full)
      const [file, ...start] = startOf(architecture, 'terminal', '3')
      const child = spawn(file, [...start, '/bin/sh', '-c', script], { stdio: ['ignore', unread, 'inherit', 'pipe'] })
      ;(child.stdio[3] as Writable).write(sizeMessage({ columns: 80, rows: 24 }))
      return { child, ended: once(child, 'close') }
    }

    test('ends by SIGTERM if its command has ended', async () => {
      const end = join(tempDir(), 'end')
      const { child, ended } = startUnread(`echo shown; echo > ${end}`)
      const pid = String(child.pid)
      const hasChildren = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8') !== ''
      while (!existsSync(end) || hasChildren()) await wait(5)
      expect(child.exitCode).toBe(null)
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    })

    test('ends by SIGTERM with its command', async () => {
      const directory = tempDir()
      const { child, ended } = startUnread(`echo started; echo > ${directory}/started; exec sleep 600`)
      while (!existsSync(join(directory, 'started'))) await wait(5)
      child.kill('SIGTERM')
      expect(await ended).toEqual([null, 'SIGTERM'])
    })
  })

  test('a terminal learns how its command ended even if its starter ignores SIGCHLD', async () => {
    const words = ['-c', 'trap "" CHLD; exec "$@"', 'sh', ...startOf(architecture, 'terminal', '3')]
    const child = spawn('/bin/sh', [...words, '/bin/sh', '-c', 'exit 7'], {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    })
    ;(child.stdio[3] as Writable).write(sizeMessage({ columns: 80, rows: 24 }))
    expect(await once(child, 'close')).toEqual([7, null])
  })

  test('a terminal without a size isn’t made', async () => {
    const [file, ...start] = startOf(architecture, 'terminal', '3')
    const child = spawn(file, [...start, '/bin/echo', 'started'], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] })
    ;(child.stdio[3] as Writable).end('short')
    const [shown, ended] = await Promise.all([text(child.stdout as Readable), once(child, 'close')])
    expect([shown, ended]).toEqual(['', [126, null]])
  })

  test('the helper does nothing if its input, output or error is closed', async () => {
    const [file, ...start] = startOf(architecture, 'check', '/absent', 'changed: ')
    const words = [file, ...start].map((word) => `'${word}'`).join(' ')
    const plan = fileWith(encodePlan([...encodeSteps([]), ...encodeFence(noFence)]))
    const run = (closed: string) =>
      spawnSync('/bin/sh', ['-c', `${words.replace('/absent', plan)} /bin/echo started ${closed}`], {
        encoding: 'utf8',
      })
    expect(run('')).toMatchObject({ status: 0, stdout: 'started\n' })
    for (const closed of ['<&-', '>&-', '2>&-']) expect(run(closed)).toMatchObject({ status: 125, stdout: '' })
  })

  test('the relay refuses what isn’t a listening socket', async () => {
    const cwd = tempDir()
    const [file, ...start] = startOf(architecture, 'relay', '3', '1')
    const relay = spawn(file, start, { cwd, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    const ended = handed(relay).catch((error: Error) => error.message)
    await once(relay.stdout ?? relay, 'data')
    // Perl sends its standard input as the descriptor.
    const message = `
      use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un('${join(cwd, 'proxy')}')) or die;
      my $text = 'x'; my $part = pack('PQ', $text, 1); my $passed = pack('QiiiI', 20, 1, 1, 0, 0);
      my $message = pack('QQPQPQQ', 0, 0, $part, 1, $passed, 24, 0);
      syscall(${process.arch === 'arm64' ? 211 : 46}, fileno($s), $message, 0) == 1 or die $!`
    expect(spawnSync('perl', ['-e', message], { stdio: ['ignore', 'inherit', 'inherit'] }).status).toBe(0)
    expect(await ended).toBe(`it ended with ${errors.EPROTO}`)
  })

  test('the helper says which fence the kernel can put up', async () => {
    const ended = await run(startOf(architecture, 'fence'), [])
    const version = isEmulated(architecture) || landlockHere() < 2 ? 0 : landlockHere()
    expect(ended).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('the fence refuses writes outside of its roots, and reaching other processes, where the kernel can', async () => {
    const [inside, outside] = [tempDir({ file: 'old' }), tempDir({ file: 'old' })]
    const everyWrite = 0x7ff2
    const both = 3
    const fence = {
      handled: everyWrite,
      scoped: both,
      roots: [
        { path: inside, accesses: everyWrite },
        { path: '/dev/null', accesses: everyWrite },
        { path: join(outside, 'absent'), accesses: everyWrite },
      ],
    }
    const plan = fileWith(encodePlan([...encodeSteps([]), ...encodeFence(fence)]))
    const tries = [
      `echo new > ${inside}/file && echo wrote inside`,
      `mkdir ${inside}/sub && mv ${inside}/file ${inside}/sub/ && echo moved inside`,
      `cat ${outside}/file >/dev/null && echo read outside`,
      `echo new > ${outside}/file && echo wrote outside`,
      `truncate -s 0 ${outside}/file && echo cut outside`,
      `touch ${outside}/other && echo made outside`,
      `rm ${outside}/file && echo removed outside`,
      `ln -s x ${outside}/link && echo linked outside`,
      `kill -0 ${process.pid} && echo reached outside`,
      'exit 0',
    ].join('\n')
    const ended = await run(startOf(architecture, 'check', plan, 'changed: '), ['/bin/sh', '-c', tries])
    const permitted = ['wrote inside', 'moved inside', 'read outside']
    if (isEmulated(architecture) || landlockHere() < 6) expect(ended).toMatchObject({ code: 0 })
    else expect(ended).toMatchObject({ code: 0, stdout: permitted.map((line) => `${line}\n`).join('') })
  })

  test('a root of the fence that has become a symlink is not followed', async () => {
    const directory = tempDir()
    symlinkSync('/etc', join(directory, 'link'))
    const fence = { handled: 2, scoped: 0, roots: [{ path: join(directory, 'link/sub'), accesses: 2 }] }
    const plan = fileWith(encodePlan([...encodeSteps([]), ...encodeFence(fence)]))
    const ended = await run(startOf(architecture, 'check', plan, 'changed: '), ['/bin/echo', 'started'])
    if (isEmulated(architecture) || landlockHere() < 2) expect(ended.stdout).toBe('started\n')
    else expect(ended).toEqual({ code: 125, stdout: '', stderr: `changed: ${join(directory, 'link/sub')}\n` })
  })
})
