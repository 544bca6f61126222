/** The closest common directory of some paths; for a single path, the path itself. */
export function commonDirectory(paths: readonly string[]): string {
  const [first = '/', ...others] = paths
  let common = first.split('/')
  for (const path of others) {
    const parts = path.split('/')
    const differs = common.findIndex((name, index) => name !== parts[index])
    common = differs === -1 ? common : common.slice(0, differs)
  }
  return common.join('/') === '' ? '/' : common.join('/')
}
