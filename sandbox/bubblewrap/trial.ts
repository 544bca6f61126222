import { existsSync, readFileSync } from 'node:fs'
import { execa } from 'execa'
import { diagnose, type Diagnosis } from './diagnose.ts'

/** A bwrap that has been seen to work here. */
type Bubblewrap = {
  readonly program: string
  /** Whether it knows `--size`. */
  readonly sizedTemp: boolean
}

export type Probe = { readonly works: true; readonly bubblewrap: Bubblewrap } | ({ readonly works: false } & Diagnosis)

/** Tries out one bwrap program, remembering nothing. */
export async function tryBubblewrap(program: string): Promise<Probe> {
  const help = await execa(program, ['--help'], { reject: false, stdin: 'ignore' })
  const sizedTemp = help.stdout.includes('--size BYTES')
  const trial = [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
    ...['--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--perms', '1777', '--tmpfs', '/dev/shm', '--proc', '/proc'],
    ...['--remount-ro', '/proc', '--', '/bin/sh', '-c', 'exit 0'],
  ]
  const { exitCode, stderr, shortMessage } = await execa(program, trial, {
    reject: false,
    stdin: 'ignore',
    env: { PATH: '/usr/bin:/bin' },
    extendEnv: false,
    timeout: 10_000,
  })
  if (exitCode === 0) return { works: true, bubblewrap: { program, sizedTemp } }
  return {
    works: false,
    ...diagnose(stderr === '' ? (shortMessage ?? '') : stderr, { appArmorRestricts: appArmorRestricts() }),
  }
}

/** Ubuntu 24.04 and later: unprivileged user namespaces only for programs with an AppArmor profile. */
function appArmorRestricts(): boolean {
  const file = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns'
  return existsSync(file) && readFileSync(file, 'utf8').trim() === '1'
}
