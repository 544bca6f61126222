import { statSync } from 'node:fs'
import { ensureImage } from '../docker-image.ts'
import { runAsOrdinaryUser } from '../battery/as-ordinary-user.ts'
import { runRaces, type Raced } from './races.ts'

/** Runs all races as this user (`root`), or as a user who owns nothing (`ordinary`); only root can do the latter. */
export async function runRacesAs(
  user: 'root' | 'ordinary',
  backend: 'bubblewrap' | 'docker',
  tries: number,
): Promise<readonly Raced[]> {
  if (backend === 'docker') ensureImage()
  if (user === 'root') return runRaces(backend, tries)
  const main = new URL('main.ts', import.meta.url).pathname
  const group = backend === 'docker' ? statSync('/var/run/docker.sock').gid : undefined
  return (await runAsOrdinaryUser(main, [backend, String(tries)], group)) as readonly Raced[]
}
