import { execa } from 'execa'
import { patience } from '../process/patience.ts'
import { removeRunDirectory, makePassingDirectory } from '../run-directory.ts'
import { closedBase } from '../scratch.ts'
import { fenceVersionIn } from '../second-fence.ts'
import { installHelper, requireArchitecture } from './helper.ts'

/** Puts a fence around a process of the host. Returns the version of the kernel's interface (landlock(7)); 0 if the kernel has no such fence. */
export async function tryFence(): Promise<number> {
  const directory = makePassingDirectory(closedBase([], 'docker'))
  try {
    const helper = installHelper(
      requireArchitecture('docker', 'program that runs first in containers'),
      directory,
      0o700,
    )
    const { stdout } = await execa(helper, ['fence'], {
      reject: false,
      stdin: 'ignore',
      env: {},
      extendEnv: false,
      ...patience,
    })
    return fenceVersionIn(stdout ?? '')
  } finally {
    await removeRunDirectory(directory)
  }
}
