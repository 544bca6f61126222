import { backendNames, factsOf, type ConfiningBackend, type NamedBackend } from '../../sandbox/index.ts'

/**
 * The backends that can be requested by name, and which of them confine commands. The lists are computed at build time, because every start needs them
 * and needs nothing else from the sandbox package.
 */
export const names = {
  named: backendNames().filter((name): name is NamedBackend => !factsOf(name).isStated),
  confining: backendNames().filter((name): name is ConfiningBackend => factsOf(name).confines),
}
