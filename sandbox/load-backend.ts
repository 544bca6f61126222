import type { Backend } from './backend.ts'
import type { BackendModule } from './backend-module.ts'

/** The functions that load the backends. Each backend is loaded only if it is used, so that the other backends don't slow down the start. */
const loaders: Readonly<Record<Backend, () => Promise<BackendModule>>> = {
  bubblewrap: async () => (await import('./bubblewrap/bubblewrap-backend.ts')).bubblewrap,
  docker: async () => (await import('./docker/docker-backend.ts')).docker,
  seatbelt: async () => (await import('./seatbelt/seatbelt-backend.ts')).seatbelt,
  unconfined: async () => (await import('./unconfined/unconfined-backend.ts')).unconfined,
  external: async () => (await import('./unconfined/unconfined-backend.ts')).external,
}

/** Loads the functions of a backend. */
export function loadBackend(backend: Backend): Promise<BackendModule> {
  return loaders[backend]()
}
