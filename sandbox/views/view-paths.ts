import { isWithin } from '../paths.ts'

/**
 * A private view: at `path`, commands see the directory `source` instead of the original, which they can't reach. Both paths are absolute and without symlinks.
 * `overlay` means that `source` is a mounted overlayfs, on which some calls fail that other file systems allow.
 */
export type View = { readonly path: string; readonly source: string; readonly overlay?: true | undefined }

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
 * Rewrites a text so that it contains the paths that commands and people know. It then never names the directory that stores a view.
 *
 * @internal
 */
export function shownText(text: string, views: readonly View[]): string {
  return views.reduce((shown, { path, source }) => shown.replaceAll(source, path), text)
}
