/**
 * The parts of this machine that commands see in a closed tree: those that hold the system's programs and what these need, but nobody's data. Only the
 * directories that are listed here are closed in part; everything else at the top of the file system isn't there.
 */
export const systemPlaces: readonly string[] = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/libexec', '/etc', '/opt', '/snap'],
  ...['/nix/store', '/nix/var/nix/profiles', '/gnu/store', '/var/guix/profiles', '/home/linuxbrew'],
  ...['/var/lib/dpkg', '/var/lib/apt', '/var/lib/rpm', '/var/lib/pacman', '/var/lib/apk', '/var/lib/alternatives'],
  ...['/var/cache/apt/pkgcache.bin', '/var/cache/apt/srcpkgcache.bin', '/var/cache/fontconfig', '/var/cache/man'],
  ...['/var/lib/texmf', '/var/lib/ghc', '/var/lib/gems', '/var/lib/python', '/var/lib/snapd/snap'],
]

/** Directories that sandboxes show in their own way (`mounts.ts`, `bubblewrap/`). */
export const ownPlaces: readonly string[] = ['/dev', '/proc', '/sys', '/tmp', '/run']

/** Directories whose entries are closed one by one, because links in them have to stay where they are: `/var/run`, `/lib`. */
export const listedPlaces: readonly string[] = ['/', '/var']

/** Directories of which commands see only what any user may read, whoever runs them. Each has a depth: the levels that are looked through. */
export const publicPlaces: readonly (readonly [path: string, levels: number])[] = [
  ['/etc', 12],
  ['/opt', 2],
  ['/usr/local', 1],
  ['/usr/local/etc', 12],
]

/** Whether a directory is replaced by one of the run's own, or an empty one, in every tree. */
export function isTemporary(path: string): boolean {
  return path === '/tmp' || path === '/run'
}
