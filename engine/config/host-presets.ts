/**
 * Names for groups of hosts in an allow-list: package registries and code hosts. Each group contains the hosts that the usual clients of the registry
 * or code host contact, on the HTTP and HTTPS ports. Any other single word is an ordinary host name.
 */
export const hostPresets: Readonly<Record<string, readonly string[]>> = {
  // JavaScript
  npm: ['registry.npmjs.org'],
  yarn: ['registry.yarnpkg.com', 'repo.yarnpkg.com'],
  jsr: ['jsr.io', 'npm.jsr.io'],
  node: ['nodejs.org'],
  // Python
  pypi: ['pypi.org', 'files.pythonhosted.org'],
  conda: ['conda.anaconda.org', 'repo.anaconda.com'],
  // Rust and Go
  crates: ['crates.io', 'index.crates.io', 'static.crates.io'],
  rustup: ['static.rust-lang.org'],
  go: ['proxy.golang.org', 'sum.golang.org'],
  // Java, .NET, PHP, Ruby, Elixir
  maven: ['repo.maven.apache.org', 'repo1.maven.org'],
  gradle: ['services.gradle.org', 'plugins.gradle.org', 'plugins-artifacts.gradle.org', 'downloads.gradle.org'],
  nuget: ['api.nuget.org'],
  packagist: ['packagist.org', 'repo.packagist.org'],
  rubygems: ['rubygems.org', 'index.rubygems.org'],
  hex: ['hex.pm', 'repo.hex.pm', 'builds.hex.pm'],
  // Systems
  debian: ['deb.debian.org', 'security.debian.org'],
  ubuntu: ['archive.ubuntu.com', 'security.ubuntu.com', 'ports.ubuntu.com'],
  alpine: ['dl-cdn.alpinelinux.org'],
  // Code hosts, on which anybody can publish
  github: [
    'github.com',
    'api.github.com',
    'codeload.github.com',
    'raw.githubusercontent.com',
    'objects.githubusercontent.com',
    'release-assets.githubusercontent.com',
  ],
  gitlab: ['gitlab.com', 'registry.gitlab.com'],
}

/** Expands the presets in a list of allowed hosts. Keeps the order, and removes duplicates. */
export function openPresets<T>(hosts: readonly T[]): (T | string)[] {
  const opened = hosts.flatMap((host): readonly (T | string)[] =>
    typeof host === 'string' && Object.hasOwn(hostPresets, host) ? (hostPresets[host] ?? []) : [host],
  )
  return [...new Set(opened)]
}
