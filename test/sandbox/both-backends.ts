import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import process from 'node:process'
import { beforeAll, describe } from 'vitest'
import { ensureImage, imageRoots } from './docker-image.ts'
import { testInBubblewrap, testInDocker } from './helpers.ts'

/** One of the two backends that confine commands on Linux, with what its tests need. */
type Tested = {
  readonly backend: 'bubblewrap' | 'docker'
  /** The test function for this backend. If the backend is missing, a test fails on CI; elsewhere, it is skipped and says why. */
  readonly test: typeof testInBubblewrap
  /** The directories that a policy must make readable so that commands can use Node and this machine's tools. */
  readonly readableRoots: string[]
}

/**
 * Defines the same tests for bubblewrap and for docker, and creates the image that docker needs.
 *
 * @param title the title of the tests, with `%s` in place of the backend's name
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
