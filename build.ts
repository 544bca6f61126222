/** Builds `dist/`, using the code in `.ci/build/`. */
import './.ci/build/build.ts'
