/** The user that commands run as in a daemon's containers, chosen so that their files belong to the caller. */
export type ContainerUser = {
  /** `UID:GID` inside. */
  readonly user: string
  /** How the daemon must map users; undefined if it needn't be told. */
  readonly userns?: 'keep-id'
}
