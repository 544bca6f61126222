import { SandboxError } from './sandbox-error.ts'
import { hostFileSystem } from './file-system-view.ts'
import { isWithin } from './paths.ts'
import type { SandboxPolicy } from './policy.ts'

/** What the kernel shows of every process and device; commands have instances of their own, which a root must not uncover. */
const closed: readonly string[] = ['/proc', '/sys', '/dev']

/** Throws `invalid-policy` for a root that would show a command the host's processes, kernel settings or devices. */
export function refuseKernelPlaces(policy: SandboxPolicy): void {
  const roots = [
    { key: 'workspace', path: policy.workspace },
    ...(['writableRoots', 'readableRoots'] as const).flatMap((key) =>
      policy[key].map((path, index) => ({ key: `${key}.${index}`, path })),
    ),
  ]
  const problems = roots.flatMap(({ key, path }) => {
    const place = kernelPlaceOf(hostFileSystem.realPath(path) ?? path)
    return place === undefined
      ? []
      : [{ key, expected: `${path}: must not lie in ${place}, of which each command has its own` }]
  })
  if (problems.length > 0) throw new SandboxError('invalid-policy', { problems })
}

function kernelPlaceOf(path: string): string | undefined {
  if (path.startsWith('/dev/shm/')) return undefined
  return closed.find((place) => isWithin(path, place))
}
