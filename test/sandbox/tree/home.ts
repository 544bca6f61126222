import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { onTestFinished } from 'vitest'

/** Variables that name toolchains, besides those that every test sets. */
const variables = ['HOME', 'PATH', 'JAVA_HOME', 'GOPATH', 'RUSTUP_HOME']

/** A home directory that isn't below /tmp, and is the caller's until the test ends. */
export async function makeHome(): Promise<string> {
  const base = await realpath(await mkdtemp('/var/tmp/portcullis-home-'))
  const before = variables.map((name) => [name, process.env[name]] as const)
  const home = join(base, 'user')
  await mkdir(join(home, 'project'), { recursive: true })
  process.env['HOME'] = home
  onTestFinished(async () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    // Go makes its cache read-only.
    spawnSync('chmod', ['-R', 'u+rwX', base], { stdio: 'ignore' })
    await rm(base, { recursive: true, force: true })
  })
  return home
}

/** Writes a file, and the directories above it. */
export async function put(path: string, content: string | Buffer, mode = 0o644): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content, { mode })
  return path
}
