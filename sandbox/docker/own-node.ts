// execa isn't used here, because ldd is called synchronously and only once.
import { spawnSync } from 'node:child_process'
import { basename, join } from 'node:path'
import process from 'node:process'
import { realpathSync } from '../host-paths.ts'
import { isExecutable } from '../locate-program.ts'
import { patience } from '../process/patience.ts'

/** Node in a container: the arguments that start it, and the files on this machine that it needs, which are mounted read-only. */
type ContainerNode = {
  readonly words: readonly [string, ...string[]]
  readonly shown: readonly { readonly source: string; readonly target: string }[]
}

/** Where containers see Node and its libraries. It is in `/dev`, because every container gets a new `/dev`. */
const shownAt = '/dev/portcullis-node'

let known: ContainerNode | undefined

/**
 * The Node that runs this program, together with its dynamic loader and its libraries, so that it also runs in an image that has a different C
 * library or none. If the libraries can't be determined, the result is the image's own Node.
 */
export function containerNode(): ContainerNode {
  known ??= bringNode(librariesOf(process.execPath))
  return known
}

/**
 * The output of ldd(1) for a program, or an empty text if there is no ldd. `PATH` is not searched for ldd, because it may name directories of the
 * workspace.
 */
function librariesOf(program: string): string {
  const ldd = ['/usr/bin/ldd', '/bin/ldd', '/usr/local/bin/ldd', '/run/current-system/sw/bin/ldd'].find(isExecutable)
  return ldd === undefined ? '' : (spawnSync(ldd, [program], { encoding: 'utf8', env: {}, ...patience }).stdout ?? '')
}

/**
 * Returns the Node at `program`, with the loader and the libraries that `libraries` names; if there is no loader among them, the image's own Node.
 *
 * @param libraries the output of ldd(1) for the program
 */
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
      // Each library is mounted under the name that the program requests, which may differ from the file's own name.
      ...[...new Set(paths)].map((path) => ({ source: realpathSync(path), target: join(library, basename(path)) })),
    ],
  }
}
