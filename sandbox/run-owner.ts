// execa isn't used here, because `ps`, which is needed on systems without procfs, is called synchronously.
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { readFileSync, readlinkSync } from './host-paths.ts'
import { patience } from './process/patience.ts'
import { parseStat } from './process/stat.ts'

/**
 * A name for a live process. It consists of the pid namespace, the pid and the start time, so no later process can have the same name. It is part of
 * the names of files that may outlive their owner, so that a later run can tell which files nobody needs any more.
 */
export function ownerName(pid: number): string {
  return `${pidNamespace()}-${pid}-${startOf(pid) ?? unknown}`
}

/**
 * Whether a name begins with the name of an owner that has ended. False if that is uncertain, for example because the owner is in a different pid
 * namespace.
 */
export function isOwnerGone(name: string): boolean {
  const [, namespace, pid, start] = /^(\d+)-(\d+)-(\d+)(?:-|$)/.exec(name) ?? []
  if (pid === undefined || start === unknown || namespace !== pidNamespace()) return false
  const now = startOf(Number(pid))
  return now !== undefined && now !== start
}

const unknown = '0'
const ended = 'ended'

let ownNamespace: string | undefined

/** The pid namespace of this process. A process never leaves its pid namespace (pid_namespaces(7)). */
function pidNamespace(): string {
  ownNamespace ??= readPidNamespace()
  return ownNamespace
}

function readPidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    // Without procfs, all processes are treated as being in the same namespace.
    return '0'
  }
}

/** The start time of a process, as digits; `ended` if the process has ended or doesn't exist; undefined if the time can't be determined. */
function startOf(pid: number): string | undefined {
  return process.platform === 'linux' ? startByProcfs(pid) : startByPs(pid)
}

/** Like `startOf`, from procfs. The start time is in clock ticks (field 22 of `/proc/PID/stat`, see proc(5)). */
function startByProcfs(pid: number): string | undefined {
  try {
    const { isDead, start } = parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
    return isDead ? ended : start
  } catch (error) {
    return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')
      ? ended
      : undefined
  }
}

function startByPs(pid: number): string | undefined {
  const { error, status, stdout } = spawnSync('/bin/ps', ['-o', 'stat=,lstart=', '-p', `${pid}`], {
    encoding: 'utf8',
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'ignore'],
    ...patience,
  })
  return error === undefined ? parsePs(status, stdout) : undefined
}

/**
 * Parses the output of `ps -o stat=,lstart= -p PID` in the C locale and UTC. Returns the start time in seconds since 1970, or `ended` if the process
 * is a zombie or doesn't exist (ps then prints nothing and exits with 1). Undefined if the output has a different form.
 */
export function parsePs(status: number | null, stdout: string): string | undefined {
  const line = stdout.trim()
  if (line === '') return status === 1 ? ended : undefined
  const [state = '', ...start] = line.split(/\s+/)
  if (state.startsWith('Z')) return ended
  const time = Date.parse(`${start.join(' ')} UTC`)
  return Number.isNaN(time) ? undefined : String(time / 1000)
}
