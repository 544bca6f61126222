import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { installHelper } from '../../sandbox/helper/helper.ts'
import type { Architecture } from '../../sandbox/seccomp/syscalls.ts'
import { tempDir } from './temp-dir.ts'
import { testUnlessOnCi, type Test } from './needs.ts'

/** The emulators for programs of another processor. They are part of qemu, run in user mode, and use this kernel's system calls. */
const emulators: Readonly<Record<Architecture, string>> = { x64: 'qemu-x86_64', arm64: 'qemu-aarch64' }

/**
 * Whether programs for a processor are emulated here. System call filters can't be emulated: the kernel would apply them to the emulator itself.
 */
export function isEmulated(architecture: Architecture): boolean {
  return process.arch !== architecture
}

/**
 * Returns the test function for tests of programs for the given processor. If neither the machine nor an emulator can run such a program, a test is
 * skipped, or fails on CI.
 */
export function testOn(architecture: Architecture): Test {
  const emulator = emulators[architecture]
  const isThere = !isEmulated(architecture) || spawnSync(emulator, ['--version']).status === 0
  return testUnlessOnCi(isThere ? undefined : `the program ${emulator} (Debian: qemu-user) is not installed`)
}

/** The command line that starts a part of the helper for this processor. The helper's file is removed at the end of the test. */
export function startOf(architecture: Architecture, ...words: readonly string[]): readonly [string, ...string[]] {
  const file = installHelper(architecture, tempDir(), 0o700)
  return isEmulated(architecture) ? [emulators[architecture], file, ...words] : [file, ...words]
}
