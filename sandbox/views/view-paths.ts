import { isWithin } from '../paths.ts'

/**
 * A private view: commands see the directory `source` at `path`, instead of the original. Both are absolute and without symlinks. No command can then
 * reach the original. `overlay`: `source` is a mounted overlayfs, on which some calls fail that other file systems allow.
 */
export type View = { readonly path: string; readonly source: string; readonly overlay?: true | undefined }

/**
 * The host's path of the file that commands see at a path.
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
 * A text with the paths that commands and people know: the directory that stores a view is never named.
 *
 * @internal
 */
export function shownText(text: string, views: readonly View[]): string {
  return views.reduce((shown, { path, source }) => shown.replaceAll(source, path), text)
}
