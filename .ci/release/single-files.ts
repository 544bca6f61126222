/** Makes `apply-patch` a single file for each system, by Bun: most of the time of a small patch is the start of Node, which takes five times as long. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { run } from './run.ts'

/** The systems, by the names that Node gives them, and the names of Bun's packages for them. */
const runtimes: Readonly<Record<string, string>> = {
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-aarch64',
  'darwin-x64': 'bun-darwin-x64',
  'darwin-arm64': 'bun-darwin-aarch64',
}

/** What a program made by Bun reads from the current directory unless it is told not to. All of it can name code to run. */
const readByBun = ['bunfig', 'dotenv', 'tsconfig', 'package-json']

type Folders = {
  /** The folder with Bun's packages. */
  readonly tools: string
  readonly work: string
  readonly into: string
}

/** Makes `apply-patch-SYSTEM` for each system. */
export function makeSingleFiles({ tools, work, into }: Folders): void {
  const bunFor = (system: string): string => join(tools, `node_modules/@oven/${runtimes[system]}/bin/bun`)
  for (const system of Object.keys(runtimes)) {
    const runtime = join(work, `bun-${system}`)
    writeFileSync(runtime, withoutVariables(readFileSync(bunFor(system))), { mode: 0o755 })
    run(bunFor(`${process.platform}-${process.arch}`), [
      ...['build', '--compile', '--bytecode', '--minify', '--format=esm'],
      ...readByBun.map((name) => `--no-compile-autoload-${name}`),
      // Code is compiled to machine code ten times later than usual: a small patch takes a seventh less, and a large one as long as without this option.
      '--compile-jit-policy=10',
      ...[`--target=bun-${system}`, `--compile-executable-path=${runtime}`],
      ...[join(import.meta.dirname, 'apply-patch.ts'), `--outfile=${join(into, `apply-patch-${system}`)}`],
    ])
  }
}

/**
 * Returns Bun without the environment variables of its own, which take effect before the first line of a program, whatever was said when it was compiled: with
 * `BUN_BE_BUN`, the program is Bun; `BUN_OPTIONS` loads code; and `BUN_INSPECT` opens a port on which anybody on the machine can run code. The first byte
 * of each name becomes 0. The name is then empty, and no variable has an empty name.
 */
function withoutVariables(runtime: Buffer): Buffer {
  const names = [...runtime.toString('latin1').matchAll(/(?<=\0)BUN_[A-Z\d_]+(?=\0)/g)]
  for (const name of ['BUN_BE_BUN', 'BUN_OPTIONS', 'BUN_INSPECT'])
    if (!names.some(([found]) => found === name))
      throw new Error(
        `Bun's ${name} was not found: this version of Bun stores the names of its variables in another way.`,
      )
  for (const { index } of names) runtime[index] = 0
  return runtime
}
