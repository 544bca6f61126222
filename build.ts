/** Builds `dist/`. The code that does this is in `.ci/build/`. */
import './.ci/build/build.ts'
