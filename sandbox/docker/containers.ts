import process from 'node:process'
import { planMounts } from '../mounts.ts'
import { planFence } from '../plan-fence.ts'
import { policyForCommand } from '../command-policy.ts'
import { ownerName } from '../run-owner.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { RunState } from '../run-state.ts'
import type { Command, Denial } from '../sandbox.ts'
import { createUncoveredWatch } from '../uncovered.ts'
import { mountsAsShown } from '../views/view-mounts.ts'
import { shownPath } from '../views/view-paths.ts'
import type { DockerClient, WarmContainer } from './client.ts'
import { boundMounts, planContainer, type ContainerPlan, type Common } from './plan-container.ts'
import { requireText } from './failures.ts'
import type { Starts } from './container-starts.ts'

/** What one command needs from a container. */
type Planned = {
  readonly container: ContainerPlan
  /** The arguments to put before the command's own arguments. They start the program that checks the mounts. */
  readonly check: readonly string[]
  /** Identifies the mounts and settings of the container. Commands with the same key can use the same container, one after another. */
  readonly key: string
  /** Returns a denial for each hidden path that became visible, and for each protected path that became writable. */
  readonly uncovered: () => readonly Denial[]
}

/** The containers of one sandbox, each of which runs one command at a time. */
type Containers = {
  /**
   * Plans what a command needs, given the current state of the host. `dropStale` keeps only the containers of the latest plans: one plan for
   * commands that may write, and one for those that may not.
   */
  plan(command: Command): Planned
  /**
   * Returns a suitable container that is waiting for a command; if there is none, starts a new one. Rejects with the daemon's error if the daemon
   * can't start one.
   */
  take(planned: Planned): Promise<WarmContainer>
  /** Keeps a container in which nothing is running any more, for the next command. */
  giveBack(planned: Planned, container: WarmContainer): void
  /** Removes the waiting containers whose mounts are out of date. */
  dropStale(): Promise<void>
  /** Removes all containers that are waiting for a command. */
  dropAll(): Promise<void>
}

/**
 * Plans the containers of a sandbox, and keeps them for later commands. A container's mounts can't change, but the protected paths do, as
 * repositories appear and disappear. So a container is used again only if its mounts are what the next command needs.
 */
export function createContainers(
  docker: DockerClient,
  policy: SandboxPolicy,
  { held, run, placesOf }: RunState,
  common: Common & { readonly starts: Starts },
): Containers {
  const warm = new Map<string, WarmContainer[]>()
  const watchCovered = createUncoveredWatch()
  // The key of the latest plan for commands that may only read (`true`), and for those that may write (`false`).
  const current = new Map<boolean, string>()
  const directories = { privateTemp: run.temp, emptyDirectory: run.empty }

  const drop = async (keep: readonly string[]): Promise<void> => {
    for (const [key, containers] of warm) {
      if (keep.includes(key)) continue
      warm.delete(key)
      await Promise.all(containers.map((container) => container.remove()))
    }
  }

  return {
    plan: (command) => {
      const applied = held.current(policyForCommand(policy, command))
      const places = placesOf(command)
      const planned = planMounts(applied, places, held.view)
      const mounts = mountsAsShown(planned, policy.views)
      const container = planContainer(applied, { ...common, ...directories, owner: ownerName(process.pid), mounts })
      const bound = boundMounts(mounts, directories)
      for (const { source, target } of bound) for (const path of [source, target]) requireText(path)
      const check = common.starts.check(bound, planFence(applied, { held, run }, places.git.mounts, held.view))
      // When a program on the host replaces a file over which a container has a mount, the container loses the mount. The container isn't used again,
      // because the stamp, which is part of the key, changes.
      const { stamp, uncovered } = watchCovered(
        planned.filter(({ path }) => bound.some(({ target }) => target === shownPath(path, policy.views))),
      )
      const key = JSON.stringify([container, check, stamp])
      current.set(command.readOnly === true, key)
      return { container, check, key, uncovered }
    },
    take: async ({ container, key }) => warm.get(key)?.pop() ?? docker.start(container, common.network.filtered),
    giveBack: ({ key }, container) => void warm.set(key, [...(warm.get(key) ?? []), container]),
    dropStale: () => drop([...current.values()]),
    dropAll: () => drop([]),
  }
}
