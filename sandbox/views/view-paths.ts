import { isWithin } from '../paths.ts'

/**
 * A private view. At `path`, commands see the directory `source` in place of the original directory, which they can't reach. Both paths are absolute
 * and without symlinks. `overlay` means that commands see an overlayfs, on which some calls fail that work on other file systems.
 *
 * With `over`, commands see `source` laid over that directory, which stays as it is: what they write is in `source`, and a whiteout there removes an entry
 * (see overlayfs in the kernel's documentation). `source` must be called `upper`, beside an empty directory `work`, and must contain whatever the policy
 * names in the view. Only bubblewrap can do this.
 */
export type View = {
  readonly path: string
  readonly source: string
  readonly overlay?: true | undefined
  readonly over?: string | undefined
}

/**
 * The host's path of the file that commands see at the given path.
 *
 * @internal
 */
export function sourcePath(path: string, views: readonly View[]): string {
  const view = views.find((each) => isWithin(path, each.path))
  return view === undefined ? path : view.source + path.slice(view.path.length)
}

/**
 * The path at which commands see a file of the host.
 *
 * @internal
 */
export function shownPath(path: string, views: readonly View[]): string {
  const view = views.find((each) => isWithin(path, each.source))
  return view === undefined ? path : view.path + path.slice(view.source.length)
}

/**
 * Replaces, in a text, the paths at which views are stored with the paths at which commands see them.
 *
 * @internal
 */
export function shownText(text: string, views: readonly View[]): string {
  return views.reduce((shown, { path, source }) => shown.replaceAll(source, path), text)
}
