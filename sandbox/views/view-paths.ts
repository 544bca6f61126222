import { isWithin } from '../paths.ts'

/**
 * A private view: commands see the directory `source` at `path`, in place of what lies there. Both are absolute and without symlinks. What lies
 * at `path` itself can't be reached by any command then. `overlay`: `source` is a mounted overlayfs, where some calls fail that others allow.
 */
export type View = { readonly path: string; readonly source: string; readonly overlay?: true | undefined }

/**
 * Where on the host lies what commands see at a path.
 *
 * @internal
 */
export function sourcePath(path: string, views: readonly View[]): string {
  const view = views.find((each) => isWithin(path, each.path))
  return view === undefined ? path : view.source + path.slice(view.path.length)
}

/**
 * Where commands see what lies at a path of the host.
 *
 * @internal
 */
export function shownPath(path: string, views: readonly View[]): string {
  const view = views.find((each) => isWithin(path, each.source))
  return view === undefined ? path : view.path + path.slice(view.source.length)
}

/**
 * A text with the paths that commands know, and people: what a view is kept in is named nowhere.
 *
 * @internal
 */
export function shownText(text: string, views: readonly View[]): string {
  return views.reduce((shown, { path, source }) => shown.replaceAll(source, path), text)
}
