import { allowBubblewrap, type Machine } from './allow-bubblewrap.ts'

/**
 * What confines commands here: bubblewrap, else docker where the workflow names an image. Where neither works, the engine refuses with exit code 5 and
 * says what would help.
 *
 * @param image the image that commands run in with docker; empty: there is none
 * @returns words for the engine
 */
export function chooseSandbox(machine: Machine, image: string): readonly string[] {
  const allowed = allowBubblewrap(machine)
  if (image === '') return []
  const works = machine.run('/usr/bin/bwrap', ['--unshare-user', '--ro-bind', '/', '/', '/bin/true'])
  if (allowed !== 'failed' && works) return []
  if (!machine.run('/usr/bin/docker', ['image', 'inspect', image])) return []
  return ['-c', 'sandbox_backend="docker"', '-c', `sandbox_image=${JSON.stringify(image)}`]
}
