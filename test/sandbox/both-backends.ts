import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import process from 'node:process'
import { beforeAll, describe } from 'vitest'
import { ensureImage, imageRoots } from './docker-image.ts'
import { testInBubblewrap, testInDocker } from './helpers.ts'

/** One of the two backends that confine on Linux, as its tests need it. */
type Tested = {
  readonly backend: 'bubblewrap' | 'docker'
  /** Skips visibly, or fails in CI, where the backend is missing. */
  readonly test: typeof testInBubblewrap
  /** The grants that a policy needs for Node and this machine's tools. */
  readonly readableRoots: string[]
}

/**
 * The same tests for bubblewrap and for docker, with the image that the latter needs.
 *
 * @param title with `%s` where the backend's name is to stand
 */
export function describeInBoth(title: string, tests: (tested: Tested) => void): void {
  describe.each([
    ['bubblewrap', testInBubblewrap],
    ['docker', testInDocker],
  ] as const)(title, (backend, test) => {
    beforeAll(() => {
      if (backend === 'docker' && spawnSync('docker', ['version']).status === 0) ensureImage()
    })
    tests({ backend, test, readableRoots: backend === 'docker' ? [...imageRoots] : [dirname(process.execPath)] })
  })
}
