/** Makes the folder with which `agent` runs on a machine without Node, as an archive. */
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { Command } from 'commander'
import { manPages } from '../../engine/cli/completion/man-pages.ts'
import { treeOf } from '../../engine/cli/completion/command-tree.ts'
import { completionScript } from '../../engine/cli/completion/completion-scripts.ts'
import { everyCommand } from '../../engine/cli/every-command.ts'
import { copyPrograms } from '../build/copy-programs.ts'
import { run } from './run.ts'

/**
 * Node's libraries that are missing in a minimal Debian, Fedora or distroless image. All other libraries are the system's own, because copies of them might
 * need a newer C library than the system has.
 */
const rareLibraries = /^libatomic\.so\./

/** Makes the folder for the system on which this runs. It contains this process's Node, for which V8 compiled the code in `dist/`. */
export function makeAgentFolder(name: string, { work, into }: { readonly work: string; readonly into: string }): void {
  const folder = join(work, name)
  const [bin, lib] = [join(folder, 'bin'), join(folder, 'lib')]
  for (const path of [folder, bin, lib]) mkdirSync(path)
  copyFileSync(join(import.meta.dirname, 'agent'), join(bin, 'agent'))
  copyFileSync(join(into, `apply-patch-${process.platform}-${process.arch}`), join(bin, 'apply-patch'))
  copyFileSync('LICENSE', join(folder, 'LICENSE'))
  copyFileSync(join(into, 'THIRD_PARTY_LICENSES'), join(folder, 'THIRD_PARTY_LICENSES'))
  copyPrograms(lib, { compiled: true })
  const node = join(lib, 'node')
  copyFileSync(process.execPath, node)
  chmodSync(node, 0o755)
  for (const library of librariesOf(process.execPath).filter((path) => rareLibraries.test(basename(path))))
    copyFileSync(library, join(lib, basename(library)))
  run('patchelf', ['--set-rpath', '$ORIGIN', node])
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${timeOfCommit()}`]
  writeManual(join(folder, 'share'))
  run('tar', [...same, '-I', 'gzip -9n', '-C', work, '-cf', join(into, `${name}.tar.gz`), name])
}

/** Writes the manual pages and the scripts for shells, which are made from the declarations of the commands, to where these programs look for them. */
function writeManual(share: string): void {
  const program = new Command('agent')
    .description('Runs a coding agent in a repository, in a sandbox.')
    .enablePositionalOptions()
  everyCommand(program, () => undefined)
  const tree = treeOf(program)
  const files = new Map([
    ['bash-completion/completions/agent', completionScript('bash', tree)],
    ['zsh/site-functions/_agent', completionScript('zsh', tree)],
    ['fish/vendor_completions.d/agent.fish', completionScript('fish', tree)],
    ...[...manPages(program)].map(([name, text]) => [`man/man1/${name}`, text] as const),
  ])
  for (const [name, text] of files) {
    mkdirSync(dirname(join(share, name)), { recursive: true })
    writeFileSync(join(share, name), text)
  }
}

/** The paths of the libraries that a program is linked with. */
function librariesOf(program: string): readonly string[] {
  return [...run('ldd', [program]).matchAll(/=> (\/\S+)/g)].map(([, path]) => path ?? '')
}

/** When the released commit was made, in seconds since 1970. The files get this time, so that the same commit always gives the same archive. */
function timeOfCommit(): string {
  return run('git', ['log', '-1', '--format=%ct']).trim()
}
