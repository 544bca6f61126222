/** The user that commands run as in a daemon's containers. It is chosen so that the files that commands create belong to the caller. */
export type ContainerUser = {
  /** `UID:GID`, as numbered inside the container. */
  readonly user: string
  /** How the daemon must map users; undefined if the daemon's default mapping is right. */
  readonly userns?: 'keep-id'
}
