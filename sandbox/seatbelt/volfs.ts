import { statSync } from '../host-paths.ts'
import { SandboxError } from '../sandbox-error.ts'

/**
 * Throws `unavailable` if a directory can't be reached by its numbers (`/.vol/DEVICE/INODE`). Planted files are removed through such paths, because a
 * command can't redirect them. Only macOS's own types of volumes support such paths.
 */
export function requireVolfs(directories: readonly string[]): void {
  for (const directory of directories) {
    const { dev, ino } = statSync(directory, { bigint: true })
    const again = statSync(`/.vol/${dev}/${ino}`, { bigint: true, throwIfNoEntry: false })
    if (again?.ino === ino && again.dev === dev) continue
    throw new SandboxError('unavailable', {
      backend: 'seatbelt',
      reason: `${directory} is on a volume whose files can't be reached by number (/.vol/DEVICE/INODE), so planted git metadata can't be removed safely`,
      remedy: 'Move the directory to an APFS volume, use read-only mode, or use the docker backend.',
    })
  }
}
