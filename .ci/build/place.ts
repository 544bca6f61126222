import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import process from 'node:process'

/** Where this build writes. A program that is run meanwhile finds the whole earlier build in `dist/`, and two builds at once don't meet. */
export const place = `.dist-${process.pid}`

/** Puts the finished build in the place of the earlier one, which is removed. */
export async function swapIn(): Promise<void> {
  const earlier = `${place}-earlier`
  if (existsSync('dist')) await rename('dist', earlier)
  await rename(place, 'dist')
  await rm(earlier, { recursive: true, force: true })
}
