import { spawn } from 'node:child_process'
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import { prepared } from '../../../.ci/build/prepared.ts'

/** The user `nobody`, who owns nothing. */
const nobody = { uid: 65534, gid: 65534 }

/**
 * Runs a test program as an ordinary user. A copy of the program is run, because that user may not be able to read the repository. Requires root.
 *
 * @param group the user's group, if it must be a certain one
 * @returns what the program prints, parsed as JSON
 */
export async function runAsOrdinaryUser(program: string, args: readonly string[], group?: number): Promise<unknown> {
  const directory = await mkdtemp('/var/tmp/portcullis-battery-program-')
  try {
    await chmod(directory, 0o755)
    const [main, node] = [join(directory, 'main.mjs'), join(directory, 'node')]
    await build({
      entryPoints: [program],
      outdir: directory,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      // The docker client's ssh package contains compiled code, so it is replaced. Backends other than docker don't need the client at all.
      ...(args.includes('docker') ? { alias: { ssh2: 'node:events' } } : { external: ['dockerode'] }),
      plugins: [prepared],
      banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    })
    await copyFile(process.execPath, node)
    await chmod(node, 0o755)
    const child = spawn(node, [main, ...args], {
      ...nobody,
      ...(group === undefined ? {} : { gid: group }),
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: '/nonexistent' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return JSON.parse(await text(child.stdout))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
