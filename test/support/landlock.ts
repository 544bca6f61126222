import { spawnSync } from 'node:child_process'
import process from 'node:process'

/** The script that asks the kernel for the version of Landlock's interface: perl(1) can make any system call by its number. */
const script = 'my $version = syscall(444, 0, 0, 1); print $version < 0 ? 0 : $version'

let known: number | undefined
/** The version of the kernel's Landlock interface; 0 if there is none. The call has the same number on both processors. */
export function landlockHere(): number {
  known ??= process.platform === 'linux' ? Number(spawnSync('perl', ['-e', script], { encoding: 'utf8' }).stdout) : 0
  return known
}
