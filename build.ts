/** Builds `dist/`: `.ci/build/` says how. */
import './.ci/build/build.ts'
