import { backendNames, factsOf, type ConfiningBackend, type NamedBackend } from '../../sandbox/index.ts'

/** The backends that can be asked for by name, and those of them that confine. Computed at the build: each start needs them, and no more of the sandbox. */
export const names = {
  named: backendNames().filter((name): name is NamedBackend => !factsOf(name).isStated),
  confining: backendNames().filter((name): name is ConfiningBackend => factsOf(name).confines),
}
