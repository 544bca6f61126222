import type { Mount } from '../mount.ts'
import { sharedMemory } from '../limits/shared-memory.ts'
import { isWithin } from '../paths.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { dockerProfileText } from '../seccomp/docker-profile.ts'
import type { LimitPlan } from '../limits/plan-limits.ts'
import type { ContainerUser } from './container-user.ts'
import { shownAt, type NetworkPlan } from './container-network.ts'
import { startsAt, type Starts } from './container-starts.ts'

/** The request that creates a container, in the terms of the daemon's API. */
export type ContainerPlan = ReturnType<typeof planContainer>

/** The label whose value names the process that owns the container. */
export const ownerLabel = 'dev.portcullis.owner'

/** The run's directories on the host, which containers mount. */
type Directories = { readonly privateTemp: string; readonly emptyDirectory: string }

/** The settings that all containers of a sandbox share. */
export type Common = {
  /** The name by which the daemon knows the image. */
  readonly image: string
  readonly identity: ContainerUser
  readonly limits: LimitPlan
  readonly starts: Pick<Starts, 'directory' | 'init'>
  readonly network: NetworkPlan
  /** Files on this machine that our own programs need in the container. */
  readonly shown: readonly { readonly source: string; readonly target: string }[]
  /** The group of the docker socket that the policy grants; undefined if it grants none. */
  readonly socketGroup?: number | undefined
}

type ContainerOptions = Directories & Common & { readonly owner: string; readonly mounts: readonly Mount[] }

/**
 * Returns the request that creates the container for a policy. The container's image is read-only, and the container has no capabilities. Every path
 * that the policy grants is mounted at the same path in the container. All processes run under our system call filter, and have only the container's
 * own loopback network unless the policy allows the full network.
 */
export function planContainer(policy: SandboxPolicy, options: ContainerOptions) {
  const { fileSizeBytes, openFiles } = options.limits.each
  const isFull = policy.network.mode === 'full'
  const sockets = isFull ? 'internet' : options.network.directory === undefined ? 'loopback' : 'entry'
  return {
    Image: options.image,
    Labels: { [ownerLabel]: options.owner },
    User: options.identity.user,
    Entrypoint: [],
    // The first process waits until its input ends. No command runs as the first process, because killing it would end the container.
    Cmd: [...options.network.filtered, ...options.starts.init],
    // The image's own health check is turned off, because it would run outside our filter.
    Healthcheck: { Test: ['NONE'] },
    Env: [],
    WorkingDir: '/',
    NetworkDisabled: !isFull,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    HostConfig: {
      AutoRemove: true,
      ...(options.identity.userns === undefined ? {} : { UsernsMode: options.identity.userns }),
      NetworkMode: isFull ? 'bridge' : 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      ...(options.socketGroup === undefined || policy.dockerSocket === undefined
        ? {}
        : { GroupAdd: [`${options.socketGroup}`] }),
      SecurityOpt: [
        'no-new-privileges',
        `seccomp=${dockerProfileText(sockets, policy.dockerSocket !== undefined || policy.unixSockets)}`,
      ],
      CgroupnsMode: 'private',
      IpcMode: 'private',
      Tmpfs: { '/dev/shm': `rw,nosuid,nodev,mode=1777,size=${sharedMemory.bytes},nr_inodes=${sharedMemory.files}` },
      NanoCpus: Math.round((options.limits.cpus ?? 0) * 1e9),
      PidsLimit: options.limits.group?.processes ?? 0,
      Memory: options.limits.group?.memoryBytes ?? 0,
      MemorySwap: options.limits.group?.memoryBytes ?? 0,
      Ulimits: [
        { Name: 'fsize', Soft: fileSizeBytes, Hard: fileSizeBytes },
        { Name: 'nofile', Soft: openFiles, Hard: openFiles },
        { Name: 'core', Soft: 0, Hard: 0 },
      ],
      Mounts: [
        ...boundMounts(options.mounts, options).map(({ source, target, readOnly }) => bind(source, target, readOnly)),
        bind(options.starts.directory, startsAt, true),
        ...options.shown.map(({ source, target }) => bind(source, target, true)),
        ...(options.network.directory === undefined ? [] : [bind(options.network.directory, shownAt, true)]),
        ...(options.network.hosts === undefined ? [] : [bind(options.network.hosts, '/etc/hosts', true)]),
      ],
    },
  }
}

/** The mounts that a container gets. The first program of each command checks that they are in place. */
export function boundMounts(
  mounts: readonly Mount[],
  directories: Directories,
): readonly { readonly source: string; readonly target: string; readonly readOnly: boolean }[] {
  return containerMounts(mounts).map((mount) => ({
    source: sourceOf(mount, directories),
    target: mount.path,
    readOnly: mount.as !== 'writable' && mount.as !== 'private',
  }))
}

function bind(source: string, target: string, readOnly: boolean) {
  return {
    Type: 'bind' as const,
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    BindOptions: { Propagation: 'rprivate' as const },
  }
}

/**
 * Returns those of the planned mounts that a container needs. They were planned for a sandbox that starts from a view of the host's files. A
 * container starts from its image instead, so only the private `/tmp`, the granted paths, and the denied or protected paths inside them are kept.
 */
function containerMounts(mounts: readonly Mount[]): readonly Mount[] {
  const granted = mounts.filter(({ as }) => as === 'writable' || as === 'read-only').map(({ path }) => path)
  return mounts.filter(
    ({ path, as }) =>
      (as === 'private' && path === '/tmp') ||
      (as !== 'private' && as !== 'tmpfs' && granted.some((place) => isWithin(path, place))),
  )
}

function sourceOf(mount: Mount, directories: Directories): string {
  switch (mount.as) {
    case 'writable':
    case 'read-only':
    case 'replaced-file':
    case 'cache':
    case 'layered':
    case 'layered-read-only':
      return mount.source ?? mount.path
    case 'private':
      return directories.privateTemp
    case 'tmpfs':
    case 'empty-directory':
      return directories.emptyDirectory
    case 'refused-file':
      return '/dev/null'
    default:
      return mount.as satisfies never
  }
}
