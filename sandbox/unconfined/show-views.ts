import { join } from 'node:path'
import { execa } from 'execa'
import { locateBubblewrap } from '../bubblewrap/locate.ts'
import { parseAlternates, quotePath } from '../git/alternates.ts'
import { mkdirSync } from '../host-paths.ts'
import { readHostFile } from '../host-files.ts'
import type { View } from '../views/view-paths.ts'

/** How a command that nothing confines is started so that it sees private views at the paths of their originals. */
type ShownViews = {
  /** The beginning of the command line; the path of the program and its arguments follow. */
  readonly start: (cwd: string) => readonly string[]
  /** Variables with which git finds the objects that a view's repository borrows from the original, which the view covers. */
  readonly variables: Readonly<Record<string, string>>
}

/** How long the trial may take, in milliseconds. */
const trialMs = 10_000

const whole = ['--die-with-parent', '--dev-bind', '/', '/']

/** Returns the path of the bubblewrap that can show views to unconfined commands; undefined if none works here. */
export async function findViewer(): Promise<string | undefined> {
  const program = locateBubblewrap()
  if (program === undefined) return undefined
  const trial = await execa(program, [...whole, 'true'], { reject: false, stdio: 'ignore', timeout: trialMs })
  return trial.exitCode === 0 ? program : undefined
}

/**
 * Plans how commands see views although nothing confines them: bubblewrap mounts the views in a namespace in which everything else is as outside.
 *
 * @param program the bubblewrap that `findViewer` returned
 * @param directory the run's own directory
 */
export function showViews(program: string, views: readonly View[], directory: string): ShownViews {
  const borrowed = views
    .flatMap(({ source }) => parseAlternates(readHostFile(join(source, '.git/objects/info/alternates'))))
    .map((path, index) => ({ path, at: join(directory, `borrowed-${index}`) }))
  for (const { at } of borrowed) mkdirSync(at)
  const mounts = [
    ...views.flatMap(({ source, path }) => ['--bind', source, path]),
    ...borrowed.flatMap(({ path, at }) => ['--ro-bind-try', path, at]),
  ]
  return {
    start: (cwd) => [program, ...whole, ...mounts, '--chdir', cwd, '--'],
    variables:
      borrowed.length === 0
        ? {}
        : { GIT_ALTERNATE_OBJECT_DIRECTORIES: borrowed.map(({ at }) => quotePath(at)).join(':') },
  }
}
