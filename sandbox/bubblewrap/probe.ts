import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, release } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import process from 'node:process'
import { execa } from 'execa'
import { z } from 'zod'
import { diagnose, installAdvice, type Diagnosis } from './diagnose.ts'
import { locateBubblewrap } from './locate.ts'

/** A bwrap that has been seen to work here. */
type Bubblewrap = {
  readonly program: string
  /** Whether it knows `--size`. */
  readonly sizedTemp: boolean
}

type Probe = { readonly works: true; readonly bubblewrap: Bubblewrap } | ({ readonly works: false } & Diagnosis)

const Remembered = z.object({ key: z.string(), sizedTemp: z.boolean() })

let known: Promise<Probe> | undefined

/**
 * Whether bubblewrap can confine here, found out by really doing it. A yes is remembered, in this process and on disk until
 * the program, the kernel or the boot changes; a no is tried again by the next process, since somebody may have repaired it.
 */
export function probeBubblewrap(): Promise<Probe> {
  known ??= probe()
  return known
}

/** Forgets a remembered yes, here and on disk: called when bwrap failed although it had worked before. */
export async function forgetProbe(): Promise<void> {
  known = undefined
  await rm(memoryFile(), { force: true })
}

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

async function probe(): Promise<Probe> {
  const program = process.platform === 'linux' ? locateBubblewrap() : undefined
  if (program === undefined) {
    return { works: false, reason: 'the program bwrap is not installed', remedy: installAdvice(process.platform) }
  }
  const key = machineKey(program)
  const remembered = await recall(key)
  if (remembered !== undefined) return { works: true, bubblewrap: { program, sizedTemp: remembered.sizedTemp } }
  const result = await tryBubblewrap(program)
  if (result.works) await remember({ key, sizedTemp: result.bubblewrap.sizedTemp })
  return result
}

/** Everything that may change the answer. */
function machineKey(program: string): string {
  const { size, mtimeMs, mode } = statSync(program)
  return [program, size, mtimeMs, mode, release(), bootId(), process.geteuid?.()].join(' ')
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Without one the kernel's version has to do.
    return ''
  }
}

function memoryFile(): string {
  const cache = process.env['XDG_CACHE_HOME']
  return join(
    cache !== undefined && isAbsolute(cache) ? cache : join(homedir(), '.cache'),
    'portcullis',
    'bubblewrap.json',
  )
}

async function recall(key: string): Promise<z.infer<typeof Remembered> | undefined> {
  try {
    const remembered = Remembered.parse(JSON.parse(await readFile(memoryFile(), 'utf8')))
    return remembered.key === key ? remembered : undefined
  } catch {
    // Missing or damaged: the probe is cheap, so it is simply done again.
    return undefined
  }
}

async function remember(value: z.infer<typeof Remembered>): Promise<void> {
  const file = memoryFile()
  const fresh = `${file}.${process.pid}`
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(fresh, JSON.stringify(value), { mode: 0o600 })
    await rename(fresh, file)
  } catch {
    // A home that can't be written to costs the next process a probe, nothing else.
    await rm(fresh, { force: true }).catch(() => undefined)
  }
}

/** Ubuntu 24.04 and later: unprivileged user namespaces only for programs with an AppArmor profile. */
function appArmorRestricts(): boolean {
  const file = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns'
  return existsSync(file) && readFileSync(file, 'utf8').trim() === '1'
}
