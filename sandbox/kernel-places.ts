import { SandboxError } from './sandbox-error.ts'
import { hostFileSystem } from './file-system-view.ts'
import { isWithin } from './paths.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'

/**
 * Directories in which the kernel shows processes, devices and settings. Commands have their own instances of these directories, and a root must not
 * expose those of the host.
 */
const closed: readonly string[] = ['/proc', '/sys', '/dev']

/** Throws `invalid-policy` if a root would let commands see the host's processes, kernel settings or devices. */
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
      : [
          {
            key,
            expected: `${path}: must not be in ${place}, because each command gets its own instance of that directory`,
          },
        ]
  })
  if (problems.length > 0) throw new SandboxError('invalid-policy', { problems })
}

/** The directory of the kernel that is or contains a path without symlinks; undefined if none does. */
export function kernelPlaceOf(path: string): string | undefined {
  if (path.startsWith('/dev/shm/')) return undefined
  return closed.find((place) => isWithin(path, place))
}
