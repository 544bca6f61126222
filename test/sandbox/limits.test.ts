import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test as plain, vi } from 'vitest'
import { countsOfProcess, findHierarchy, makeGroup } from '../../sandbox/limits/groups.ts'
import { planLimits } from '../../sandbox/limits/plan-limits.ts'
import { inferExceededLimits } from '../../sandbox/limits/infer-exceeded-limits.ts'
import { hierarchyHere } from '../../sandbox/limits/prepare.ts'
import { parsePolicy } from '../../sandbox/index.ts'
import { testUnless, whyNoControlGroups } from '../support/needs.ts'
import { codeOf, openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

/**
 * Creates a workspace, and a temporary directory next to it, on a file system of their own, because other programs keep changing the free space of a
 * shared disk. If no file system can be mounted, they are on one to which few other programs write.
 */
async function quietWorkspace(): Promise<string> {
  const base = await mkdtemp('/dev/shm/sandbox-test-')
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512m,nr_inodes=20k', 'tmpfs', base])
  const [workspace, temporary] = [join(base, 'workspace'), join(base, 'temporary')]
  for (const directory of [workspace, temporary]) await mkdir(directory)
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    if (status === 0) spawnSync('umount', ['--lazy', base])
    await rm(base, { recursive: true, force: true })
  })
  return workspace
}

const mebibyte = 1024 ** 2

describe.each([
  ['bubblewrap', 'workspace-write', testInBubblewrap],
  ['unconfined', 'danger-full-access', plain],
] as const)('%s', (backend, mode, test) => {
  const grouped = testUnless(whyNoControlGroups(), test)

  test('a file grows to the limit and no further', async () => {
    const workspace = await temporaryDirectory()
    const sandbox = await openFor({ mode, workspace, limits: { fileSizeBytes: mebibyte } })
    expect(codeOf(await run(sandbox, 'head -c 2000000 /dev/zero > big'))).not.toBe(0)
    expect((await stat(join(workspace, 'big'))).size).toBe(mebibyte)
    expect((await run(sandbox, 'head -c 2000000 /dev/zero > big')).result.denials).toMatchObject([
      { kind: 'limit', subject: 'a file of more than 1 MiB', rule: 'limits.fileSizeBytes' },
    ])
  })

  test('a command uses no more disk space than the limit, in any number of files, and is told why', async () => {
    const workspace = await quietWorkspace()
    const limits = { diskBytes: 64 * mebibyte }
    const sandbox = await openFor({ mode, workspace, limits })
    expect((await run(sandbox, 'head -c 20000000 /dev/zero > small; sleep 0.3')).result.denials).toEqual([])
    const ran = await run(
      sandbox,
      'for i in 1 2 3 4 5 6; do head -c 20000000 /dev/zero > fill$i; sleep 0.2; done; echo all',
    )
    expect(ran).toMatchObject({ stdout: '', result: { status: 'signaled', signal: 'SIGKILL' } })
    expect(ran.result.denials).toEqual([
      {
        kind: 'limit',
        subject: 'more than 64 MiB of disk space while the command ran, so it was stopped',
        rule: 'limits.diskBytes',
        certainty: 'proven',
        remedy: { kind: 'raise-limit', limit: 'diskBytes', value: 64 * mebibyte },
      },
    ])
    await sandbox.close()
  })

  test('a command creates no more files than the limit, however small, and is told why', async () => {
    const workspace = await quietWorkspace()
    const sandbox = await openFor({ mode, workspace, limits: { files: 500 } })
    const make = (count: number): string => `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); : > f$i; done; sleep 0.5`
    expect((await run(sandbox, make(100))).result.denials).toEqual([])
    const ran = await run(sandbox, `${make(2000)}; sleep 60; echo all`)
    expect(ran).toMatchObject({ stdout: '', result: { status: 'signaled', signal: 'SIGKILL' } })
    expect(ran.result.denials).toEqual([
      {
        kind: 'limit',
        subject: 'more than 500 new files on one disk while the command ran, so it was stopped',
        rule: 'limits.files',
        certainty: 'proven',
        remedy: { kind: 'raise-limit', limit: 'files', value: 500 },
      },
    ])
    await sandbox.close()
  })

  test('a process opens no more files than the limit', async () => {
    const workspace = await temporaryDirectory()
    // Node may be installed in a place that is private in the sandbox, such as /tmp.
    const readableRoots = [dirname(process.execPath)]
    const sandbox = await openFor({ mode, workspace, readableRoots, limits: { openFiles: 40 } })
    const open = "const fs=require('fs');try{for(;;)fs.openSync('/dev/null')}catch(e){console.log(e.code)}"
    expect((await run(sandbox, 'ulimit -n; ulimit -c')).stdout).toBe('40\n0\n')
    expect((await run(sandbox, `"${process.execPath}" -e "${open}"`)).stdout).toBe('EMFILE\n')
    expect((await run(sandbox, `"${process.execPath}" -e "for(;;)fs.openSync('/dev/null')"`)).result.denials).toEqual([
      {
        kind: 'limit',
        subject: 'more than 40 open files in one process',
        rule: 'limits.openFiles',
        certainty: 'suspected',
        remedy: { kind: 'raise-limit', limit: 'openFiles', value: 40 },
      },
    ])
  })

  const forks = 'i=0; while [ $i -lt 300 ]; do sleep 60 & i=$((i+1)); done; echo all'

  grouped('a command has no more processes than the limit, and hears why', async () => {
    const sandbox = await openFor({ mode, workspace: await temporaryDirectory(), limits: { processes: 50 } })
    const ran = await run(sandbox, forks)
    expect(ran.stdout).not.toContain('all')
    expect(ran.result.denials).toMatchObject([{ kind: 'limit', rule: 'limits.processes', certainty: 'proven' }])
    expect(await run(sandbox, 'echo still here')).toMatchObject({ stdout: 'still here\n', result: { denials: [] } })
  })

  grouped('all of a command together have no more memory than the limit, and hear why', async () => {
    const sandbox = await openFor({
      mode,
      workspace: await temporaryDirectory(),
      limits: { memoryBytes: 64 * mebibyte },
    })
    const ran = await run(sandbox, 'head -c 200000000 /dev/zero | tail > /dev/null; echo $?')
    expect(ran.result.denials).toMatchObject([{ kind: 'limit', rule: 'limits.memoryBytes', certainty: 'proven' }])
  })

  grouped('control groups are gone when the sandbox is closed', async () => {
    const before = await groupsHere()
    const sandbox = await openFor({ mode, workspace: await temporaryDirectory() })
    await Promise.all([run(sandbox, 'sleep 0.1'), run(sandbox, 'sleep 0.1')])
    expect((await groupsHere()).length).toBeGreaterThan(before.length)
    await sandbox.close()
    expect(await groupsHere()).toEqual(before)
  })

  if (backend === 'bubblewrap') {
    grouped('the private shared memory counts', async () => {
      const sandbox = await openFor({
        mode,
        workspace: await temporaryDirectory(),
        limits: { memoryBytes: 64 * mebibyte },
      })
      expect(
        (await run(sandbox, 'head -c 200000000 /dev/zero > /dev/shm/big; ls -s /dev/shm')).result.denials,
      ).toHaveLength(1)
    })
  }
})

async function groupsHere(): Promise<readonly string[]> {
  const hierarchy = hierarchyHere()
  if (hierarchy === undefined) return []
  const names = await readdir(hierarchy.version === 1 ? hierarchy.memory : hierarchy.parent)
  return names.filter((name) => name.startsWith('portcullis-group-') && name.includes(`-${process.pid}-`))
}

describe('without control groups', () => {
  const policy = (limits = {}) => parsePolicy({ mode: 'workspace-write', workspace: '/', limits })
  const none = { groups: false, processLimit: false }

  plain('default limits that cannot be enforced are named', () => {
    expect(planLimits(policy(), none, 'bubblewrap').unenforced).toHaveLength(2)
    expect(planLimits(policy(), { groups: false, processLimit: true }, 'bubblewrap').unenforced).toHaveLength(1)
    expect(planLimits(policy(), { groups: true, processLimit: false }, 'bubblewrap').unenforced).toEqual([])
  })

  plain('a requested limit that cannot be enforced is refused', () => {
    expect(() => planLimits(policy({ processes: 100 }), none, 'bubblewrap')).toThrow(
      /limits\.processes needs a control group/,
    )
  })

  plain('by default, the memory limit applies to each process’s own data, not to reserved address space', () => {
    expect(planLimits(policy(), none, 'bubblewrap').each.dataBytes).toBeGreaterThan(1024 * mebibyte)
  })

  plain(
    'a limit on memory that was asked for is refused, with what would help: shared memory would go round it',
    () => {
      for (const tools of [none, { groups: false, processLimit: true }]) {
        expect(() => planLimits(policy({ memoryBytes: 100 * mebibyte }), tools, 'bubblewrap')).toThrow(
          /limits\.memoryBytes needs a control group here, but none can be created.*use the docker backend/,
        )
      }
      const grouped = planLimits(policy({ memoryBytes: 100 * mebibyte }), { ...none, groups: true }, 'bubblewrap')
      expect(grouped.group?.memoryBytes).toBe(100 * mebibyte)
    },
  )

  plain('a process that runs out of memory gets no advice to set a limit that would be refused', () => {
    const plan = planLimits(policy(), none, 'bubblewrap')
    const ended = { code: 1, signal: null, stderr: 'MemoryError' }
    expect(inferExceededLimits(plan, ended, false)).toMatchObject([
      { rule: 'limits.memoryBytes', remedy: { kind: 'otherwise' } },
    ])
  })
})

describe('finding control groups', () => {
  plain('version 2: the nearest parent group that delegates both controllers', async () => {
    const top = await temporaryDirectory()
    const own = join(top, 'user.slice/session.scope')
    await mkdir(own, { recursive: true })
    await writeFile(join(own, 'cgroup.subtree_control'), '')
    await writeFile(join(top, 'user.slice/cgroup.subtree_control'), 'memory\n')
    await writeFile(join(top, 'cgroup.subtree_control'), 'cpu memory pids\n')
    const mounts = `30 20 0:25 / ${top} rw,nosuid - cgroup2 cgroup2 rw\n`
    const hierarchy = findHierarchy(mounts, '0::/user.slice/session.scope\n')
    expect(hierarchy).toEqual({ version: 2, parent: top })
    if (hierarchy === undefined) return
    const group = makeGroup(hierarchy, { processes: 5, memoryBytes: 100 })
    const directory = join(group.joinFiles[0] ?? '', '..')
    expect(await readFile(join(directory, 'pids.max'), 'utf8')).toBe('5')
    await writeFile(join(directory, 'memory.events'), 'low 0\noom 2\noom_kill 2\n')
    await writeFile(join(directory, 'pids.events'), 'max 3\n')
    expect(group.counts()).toEqual({ killedForMemory: 2, forksRefused: 3 })
  })

  plain('version 1: a group below our own, also in a container', async () => {
    const [memory, pids] = [await temporaryDirectory(), await temporaryDirectory()]
    await mkdir(join(memory, 'inner'))
    const mounts = [
      `40 30 0:31 /docker/abc ${memory} rw - cgroup cgroup rw,memory`,
      `41 30 0:32 /docker/abc ${pids} rw - cgroup cgroup rw,pids`,
    ].join('\n')
    const hierarchy = findHierarchy(mounts, '4:memory:/docker/abc/inner\n8:pids:/docker/abc\n')
    expect(hierarchy).toEqual({ version: 1, memory: join(memory, 'inner'), pids })
  })

  plain('none if there are none, or none is writable', () => {
    expect(findHierarchy('', '')).toBeUndefined()
    expect(findHierarchy('30 20 0:25 / /proc/absent rw - cgroup2 cgroup2 rw', '0::/\n')).toBeUndefined()
  })

  plain('groups of a killed run are removed', async () => {
    const hierarchy = hierarchyHere()
    if (hierarchy?.version !== 1) return
    const left = join(hierarchy.pids, `portcullis-group-${(await stat('/proc/self/ns/pid')).ino}-4194304-1-1`)
    await mkdir(left)
    findHierarchy()
    expect(existsSync(left)).toBe(false)
  })
})

describe('the kernel’s counters for a container’s process', () => {
  plain('version 2: read again each time, where its group is mounted', async () => {
    const top = await temporaryDirectory()
    const group = join(top, 'system.slice/docker-abc123.scope')
    await mkdir(group, { recursive: true })
    await writeFile(join(group, 'memory.events'), 'oom_kill 1\n')
    await writeFile(join(group, 'pids.events'), 'max 4\n')
    const mounts = `30 20 0:25 / ${top} rw - cgroup2 cgroup2 rw\n`
    const counts = countsOfProcess(1, 'abc123', mounts, '0::/system.slice/docker-abc123.scope\n')
    expect(counts?.()).toEqual({ killedForMemory: 1, forksRefused: 4 })
    await writeFile(join(group, 'pids.events'), 'max 5\n')
    expect(counts?.().forksRefused).toBe(5)
  })

  plain('version 1: likewise', async () => {
    const [memory, pids] = [await temporaryDirectory(), await temporaryDirectory()]
    for (const top of [memory, pids]) await mkdir(join(top, 'docker/abc123'), { recursive: true })
    await writeFile(join(memory, 'docker/abc123/memory.oom_control'), 'under_oom 0\noom_kill 2\n')
    await writeFile(join(pids, 'docker/abc123/pids.events'), 'max 0\n')
    const mounts = `1 0 0:1 / ${memory} rw - cgroup cgroup rw,memory\n2 0 0:2 / ${pids} rw - cgroup cgroup rw,pids\n`
    const counts = countsOfProcess(1, 'abc123', mounts, '4:memory:/docker/abc123\n8:pids:/docker/abc123\n')
    expect(counts?.()).toEqual({ killedForMemory: 2, forksRefused: 0 })
  })

  plain('are not read from a group with another name, or without a group', async () => {
    const top = await temporaryDirectory()
    await writeFile(join(top, 'memory.events'), 'oom_kill 1\n')
    await writeFile(join(top, 'pids.events'), 'max 4\n')
    const mounts = `30 20 0:25 / ${top} rw - cgroup2 cgroup2 rw\n`
    expect(countsOfProcess(1, 'abc123', mounts, '0::/\n')).toBeUndefined()
    expect(countsOfProcess(1, 'abc123', mounts, '')).toBeUndefined()
  })
})
