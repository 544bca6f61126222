import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Tests that take minutes each: large inputs, kills at every system call or at many moments, and the complete set of escape attempts. */
const longest = [
  'test/apply-patch/large-input.test.ts',
  'test/apply-patch/files/crash.test.ts',
  'test/engine/exec/killed.test.ts',
  // This test shows two hundred hostile strings in a browser if Chromium is installed.
  'test/engine/report/hostile.test.ts',
  'test/sandbox/battery/battery.test.ts',
]

/** Tests that take six seconds or more on two idle processors. They are kept apart so that all other tests together take less than four minutes. */
const long = [
  'test/actions/docker.test.ts',
  'test/actions/evidence.test.ts',
  'test/actions/gitlab.test.ts',
  'test/actions/run.test.ts',
  'test/apply-patch/bad-input.test.ts',
  'test/apply-patch/cases.test.ts',
  'test/apply-patch/files/command.test.ts',
  'test/apply-patch/files/large-files.test.ts',
  'test/engine/agents/exec.test.ts',
  'test/engine/batch/double-delivery.test.ts',
  'test/engine/batch/early-worker.test.ts',
  'test/engine/batch/killed.test.ts',
  'test/engine/batch/limits.test.ts',
  'test/engine/batch/lost-costs.test.ts',
  'test/engine/batch/outages.test.ts',
  'test/engine/batch/queue.test.ts',
  'test/engine/batch/redis-connection.test.ts',
  'test/engine/batch/quota.test.ts',
  'test/engine/batch/run.test.ts',
  'test/engine/batch/sealed-store.test.ts',
  'test/engine/batch/shared-limits.test.ts',
  'test/engine/batch/stands-still.test.ts',
  'test/engine/chaos/chaos.test.ts',
  'test/engine/cli/diff-command.test.ts',
  'test/engine/cli/doctor-run.test.ts',
  'test/engine/cli/odd-homes.test.ts',
  'test/engine/cli/package-caches.test.ts',
  'test/engine/cli/policy-replay.test.ts',
  'test/engine/cli/read-prompt.test.ts',
  'test/engine/cli/replay-command.test.ts',
  'test/engine/cli/sandbox-command.test.ts',
  'test/engine/cli/sessions-command.test.ts',
  'test/engine/cli/undo-command.test.ts',
  'test/engine/cli/watchdog.test.ts',
  'test/engine/concealed-surfaces.test.ts',
  'test/engine/exec/asks.test.ts',
  'test/engine/exec/changes.test.ts',
  'test/engine/exec/cost.test.ts',
  'test/engine/exec/display.test.ts',
  'test/engine/exec/ends.test.ts',
  'test/engine/exec/failed-starts.test.ts',
  'test/engine/exec/failures.test.ts',
  'test/engine/exec/killed-at-events.test.ts',
  'test/engine/exec/plan-mode.test.ts',
  'test/engine/exec/resume.test.ts',
  'test/engine/exec/strict-servers.test.ts',
  'test/engine/exec/together.test.ts',
  'test/engine/exec/verify.test.ts',
  'test/engine/exec/wires.test.ts',
  'test/engine/exec/worktree.test.ts',
  'test/engine/exec/yield.test.ts',
  'test/engine/guardian/audit.test.ts',
  'test/engine/guardian/escalation.test.ts',
  'test/engine/guardian/model.test.ts',
  'test/engine/guardian/permission-files.test.ts',
  'test/engine/guardian/program.test.ts',
  'test/engine/hooks/claude-scripts.test.ts',
  'test/engine/hooks/exec.test.ts',
  'test/engine/hooks/model-hooks.test.ts',
  'test/engine/mcp/exec.test.ts',
  'test/engine/mcp/servers.test.ts',
  'test/engine/models/providers.test.ts',
  'test/engine/own-installation.test.ts',
  'test/engine/report/every-end.test.ts',
  'test/engine/report/narrow.test.ts',
  'test/engine/report/schemas.test.ts',
  'test/engine/review/exec-review.test.ts',
  'test/engine/skills/exec.test.ts',
  'test/engine/telemetry/exec.test.ts',
  'test/engine/tools/ask-user.test.ts',
  'test/engine/tools/command-sessions.test.ts',
  'test/engine/tools/no-way-round.test.ts',
  'test/engine/tools/save-memory.test.ts',
  'test/engine/transaction/apply-by-hunk.test.ts',
  'test/engine/transaction/attributes.test.ts',
  'test/engine/transaction/battery/battery.test.ts',
  'test/engine/transaction/commands.test.ts',
  'test/engine/transaction/commits.test.ts',
  'test/engine/transaction/docker.test.ts',
  'test/engine/transaction/evidence.test.ts',
  'test/engine/transaction/exec.test.ts',
  'test/engine/transaction/landing-kills.test.ts',
  'test/engine/transaction/landing-shapes.test.ts',
  'test/engine/transaction/large-files.test.ts',
  'test/engine/transaction/killed-between.test.ts',
  'test/engine/transaction/linked.test.ts',
  'test/engine/transaction/meanwhile.test.ts',
  'test/engine/transaction/nested.test.ts',
  'test/engine/transaction/nowhere-else.test.ts',
  'test/engine/transaction/overlay.test.ts',
  'test/engine/transaction/places.test.ts',
  'test/engine/transaction/reflink.test.ts',
  'test/engine/transaction/refs.test.ts',
  'test/engine/transaction/signals.test.ts',
  'test/engine/transaction/stored-objects.test.ts',
  'test/engine/transaction/unreadable-files.test.ts',
  'test/package/large-copy.test.ts',
  'test/policies/replay.test.ts',
  'test/sandbox/app-directories.test.ts',
  'test/sandbox/docker.test.ts',
  'test/sandbox/kill.test.ts',
  'test/sandbox/left-in-the-workspace.test.ts',
  'test/sandbox/limits.test.ts',
  'test/sandbox/long-command.test.ts',
  'test/sandbox/mount-race.test.ts',
  'test/sandbox/network/allowlist.test.ts',
  'test/sandbox/private-git.test.ts',
  'test/sandbox/processes.test.ts',
  'test/sandbox/raw-names.test.ts',
  'test/sandbox/stopped-while-starting.test.ts',
  'test/sandbox/terminal.test.ts',
]

const soak = [...longest, ...long]

// Tests that try every attack through every part of a run that could carry it out, and tests with thousands of protected and denied paths.
const attacks = ['test/engine/attacks/*.test.ts', 'test/sandbox/many-places.test.ts']

const usual = {
  // The modules of these packages import JSON in a way that Node doesn't accept, so vitest has to transform them.
  server: { deps: { inline: [/@actions\//] } },
  setupFiles: ['test/support/fresh-environment.ts', 'test/support/refuse-nothing.ts'],
  include: ['test/{actions,apply-patch,engine,policies,sandbox,package}/**/*.test.ts'],
  // These limits are only meant for tests that would never end, because even a working test may be delayed by a minute on a shared machine.
  testTimeout: 180_000,
  hookTimeout: 180_000,
}

export default defineConfig({
  test: {
    // One more than there are processors, because most tests wait for processes. Two workers on two processors leave a quarter of the processor time
    // unused.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        // Tests of the code's structure, such as which module imports which, and unused exports. They are part of `npm run check`.
        test: {
          name: 'architecture',
          include: ['test/architecture/**/*.test.ts'],
          testTimeout: 60_000,
          isolate: false,
        },
      },
      {
        // The files of this project share a few processes. Loading the sources again for each file would take a third of the processor time.
        test: { ...usual, name: 'main', exclude: [...soak, ...attacks], isolate: false },
      },
      {
        // `npm test` skips these tests. `.ci/run` runs a third of them, `npm run soak -- --only tests` all of them. Whoever changes the code that they test should run them.
        test: { ...usual, name: 'soak', include: soak },
      },
      { test: { ...usual, name: 'attacks', include: attacks } },
    ],
  },
})
