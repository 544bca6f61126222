import { isDockerUsable, type SandboxError } from '../../sandbox/index.ts'

/** How long to wait for docker's answer, in milliseconds. If none comes in time, docker isn't suggested. */
const patienceMs = 1500

/** What the user may choose instead if the sandbox can't start. */
type Alternatives = { readonly docker: string }

/** The alternatives for a user of `agent sandbox`, with which docker is chosen by flags. */
export const dockerByFlags: Alternatives = { docker: '--backend docker --image NAME' }

/** The alternatives for a user of `agent exec`, with which docker is chosen by configuration keys. */
export const dockerByConfig: Alternatives = { docker: '-c sandbox_backend=docker -c sandbox_image=NAME' }

/** The advice about an external sandbox. Such a sandbox is never assumed, because a container isn't necessarily a security boundary. */
export const statement =
  'If a container or virtual machine around this program is the sandbox, declare that with --externally-sandboxed: commands then run unconfined in it.'

/**
 * Explains why there is no sandbox, and what the alternatives are. Docker is suggested if it answers. If the sandbox could start but can't enforce the policy,
 * there are no alternatives, and only the message of the error is returned.
 */
export async function explainNoSandbox(error: SandboxError<'unavailable'>, { docker }: Alternatives): Promise<string> {
  if (error.data.cannotStart !== true) return error.message
  const offer = `Docker is available here: choose it with ${docker}, if the workspace has the same path on docker's host.`
  const usable = await Promise.race([
    isDockerUsable(),
    new Promise<false>((resolve) => setTimeout(resolve, patienceMs, false).unref()),
  ])
  return [error.message, ...(usable ? [offer] : []), statement].join('\n')
}
