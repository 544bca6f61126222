import { version } from '../../core/version.ts'
import type { ModelForCi } from './model-for-ci.ts'

/** A script that runs agent in a container on this repository. */
export function dockerScript({ variable }: Pick<ModelForCi, 'variable'>): string {
  const passed = [...(variable === undefined ? [] : [variable]), 'OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL']
  return `#!/bin/sh
# Runs agent in a container on this repository: sh .portcullis/in-docker exec "make the tests pass"
# The image is that of a release (docker load --input portcullis-VERSION-image.tar.gz), or one that you build on it with what your tests need.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# The three options let bubblewrap work in the container. Where they aren't allowed, the container can be the sandbox: --externally-sandboxed.
# Sessions are kept in a volume, so that agent undo and agent exec resume find them.
exec docker run --rm --init --interactive \\
  --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined \\
  ${passed.map((each) => `--env ${each}`).join(' ')} \\
  --user "$(id -u):$(id -g)" --volume portcullis-home:/home/agent --volume "$root:/work" \\
  "\${PORTCULLIS_IMAGE:-portcullis:${version}}" "$@"
`
}
