/** The user that commands run as in a daemon's containers, so that their files belong to the caller. */
export type ContainerUser = {
  /** `UID:GID` inside. */
  readonly user: string
  /** How the daemon must map users, if it has to be told. */
  readonly userns?: 'keep-id'
}
