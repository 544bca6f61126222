/**
 * A process that, every few milliseconds, replaces a directory of a tree with a link that leads outside and then puts the directory back, until it is
 * killed.
 */
import { renameSync, symlinkSync } from 'node:fs'

const [, , directory = '', target = ''] = process.argv
const link = `${directory}.link`
const away = `${directory}.away`
symlinkSync(target, link)
process.stdout.write('swapping\n')
const pause = new Int32Array(new SharedArrayBuffer(4))
for (;;) {
  Atomics.wait(pause, 0, 0, Math.random() * 3)
  try {
    renameSync(directory, away)
    renameSync(link, directory)
    Atomics.wait(pause, 0, 0, Math.random())
    renameSync(directory, link)
    renameSync(away, directory)
  } catch {
    // The commit may briefly hold the directory that we want to move. The next round tries again.
  }
}
