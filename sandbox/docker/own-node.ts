// Not by execa: this is called once, synchronously.
import { spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import process from 'node:process'
import { isExecutable } from '../locate-program.ts'

/** Node in a container: the arguments that start it, and the files of this machine that it needs, mounted read-only. */
type ContainerNode = {
  readonly words: readonly [string, ...string[]]
  readonly shown: readonly { readonly source: string; readonly target: string }[]
}

/** In `/dev`, because every container gets a fresh one. */
const shownAt = '/dev/portcullis-node'

let known: ContainerNode | undefined

/**
 * The Node that runs this program, with its dynamic loader and its libraries, so that it runs in an image with any C library, or with none. If the
 * libraries can't be determined, the image's own Node.
 */
export function containerNode(): ContainerNode {
  known ??= bringNode(librariesOf(process.execPath))
  return known
}

/**
 * The output of ldd(1) for a program; empty if there is no ldd. The ldd program is never taken from `PATH`, which may name directories of the
 * workspace.
 */
function librariesOf(program: string): string {
  const ldd = ['/usr/bin/ldd', '/bin/ldd', '/usr/local/bin/ldd', '/run/current-system/sw/bin/ldd'].find(isExecutable)
  return ldd === undefined ? '' : (spawnSync(ldd, [program], { encoding: 'utf8', env: {} }).stdout ?? '')
}

/** @param libraries the output of ldd(1) for the program */
export function bringNode(libraries: string, program: string = process.execPath): ContainerNode {
  const paths = libraries.split('\n').flatMap((line) => /(?:^|=>)\s*(\/\S+) \(0x/.exec(line)?.[1] ?? [])
  const loader = paths.find((path) => /^ld(?:[-.]|64)/.test(basename(path)))
  if (loader === undefined) return { words: ['node'], shown: [] }
  const library = join(shownAt, 'lib')
  const [node, start] = [join(shownAt, 'node'), join(library, basename(loader))]
  return {
    words: [start, '--library-path', library, node],
    shown: [
      { source: realpathSync(program), target: node },
      // Each library is mounted under the name that the program requests, whatever the file is called.
      ...[...new Set(paths)].map((path) => ({ source: realpathSync(path), target: join(library, basename(path)) })),
    ],
  }
}
