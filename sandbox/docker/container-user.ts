/** As whom commands run in a daemon's containers so that files belong to the caller. */
export type ContainerUser = {
  /** `UID:GID` inside. */
  readonly user: string
  /** How the daemon is to map users, where it has to be told. */
  readonly userns?: 'keep-id'
}
