import { spawn } from 'node:child_process'
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import type { Backend } from '../../../sandbox/index.ts'
import type { Executed } from './run-battery.ts'

/** The user that owns nothing. */
const nobody = { uid: 65534, gid: 65534 }

/**
 * Runs the battery as an ordinary user, from a copy that this user can read wherever the repository lies. Only root can do so.
 */
export async function runBatteryAsOrdinaryUser(backend: Backend): Promise<readonly Executed[]> {
  const directory = await mkdtemp('/var/tmp/portcullis-battery-program-')
  try {
    await chmod(directory, 0o755)
    const [main, node] = [join(directory, 'main.mjs'), join(directory, 'node')]
    await build({
      entryPoints: [new URL('main.ts', import.meta.url).pathname],
      outdir: directory,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      // The docker backend's packages stay behind their door, which nobody opens here.
      splitting: true,
      format: 'esm',
      platform: 'node',
      external: ['dockerode'],
      banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    })
    await copyFile(process.execPath, node)
    await chmod(node, 0o755)
    const child = spawn(node, [main, backend], {
      ...nobody,
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: '/nonexistent' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return JSON.parse(await text(child.stdout)) as readonly Executed[]
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
