import { allowBubblewrap, type Machine } from './allow-bubblewrap.ts'

/**
 * Chooses the sandbox backend: bubblewrap if it works here, otherwise docker if the workflow names an image that exists. If neither can be used, the engine
 * refuses to run: it exits with code 5 and explains what would help.
 *
 * @param image the image in which docker runs commands; empty if the workflow names none
 * @returns the engine's arguments that select docker; otherwise an empty list
 */
export function chooseSandbox(machine: Machine, image: string): readonly string[] {
  const allowed = allowBubblewrap(machine)
  if (image === '') return []
  const works = machine.run('/usr/bin/bwrap', ['--unshare-user', '--ro-bind', '/', '/', '/bin/true'])
  if (allowed !== 'failed' && works) return []
  if (!machine.run('/usr/bin/docker', ['image', 'inspect', image])) return []
  return ['-c', 'sandbox_backend="docker"', '-c', `sandbox_image=${JSON.stringify(image)}`]
}
